"""An agent that was taken over sends what it likes: the brain refuses it and goes on."""

import gzip
import random
from pathlib import Path

import pytest
from nemutator_common.wire import LARGEST_PROFILE_BYTES, ProfileOutcome, ProfileRequest

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.profiles import content
from tests.fakes.profiling_agents import FakeAgent

PID = {"target": {"kind": "pid", "value": "123"}}


async def requested(brain: StandingBrain) -> tuple[FakeAgent, ProfileRequest]:
    agent = FakeAgent(brain)
    await agent.appear()
    async with brain.local.post("/api/v1/profiles", json=PID) as answer:
        assert answer.status == 202
    [request] = await agent.requests()
    return agent, request


async def state_of(brain: StandingBrain, identity: str) -> tuple[str, str]:
    async with brain.local.get(f"/api/v1/profiles/{identity}") as answer:
        document = await answer.json()
    return document["state"], document["reason"]


def damaged() -> list[bytes]:
    good, dice = content("main.work"), random.Random(7)
    raw = gzip.decompress(good)
    flipped = []
    for _ in range(5):
        broken = bytearray(raw)
        for _ in range(8):
            broken[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
        flipped.append(gzip.compress(bytes(broken)))
    return [
        b"garbage",
        good[: len(good) // 2],
        gzip.compress(b"\x0a\xff\xff\xff\xff\x0f", mtime=0),
        *flipped,
    ]


@pytest.mark.parametrize("pprof", [b"garbage", gzip.compress(b"\xff" * 1000, mtime=0)])
async def test_garbage_in_place_of_a_profile_is_refused_for_good(
    tmp_path: Path, pprof: bytes
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent, request = await requested(brain)
        status, answer = await agent.report(request, "done", pprof=pprof)
        assert (status, answer["error"]) == (400, "pprof: it cannot be read")
        state, reason = await state_of(brain, request.id)
        assert state == "refused"
        assert "no profile" in reason
        assert await brain.metric("nemutator_profile_outcomes_refused_total") == 1


@pytest.mark.slow
async def test_no_damage_takes_the_brain_down(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for pprof in damaged():
            agent, request = await requested(brain)
            status, _ = await agent.report(request, "done", pprof=pprof)
            assert status in (200, 400)
            for rendering in ("folded", "flamegraph"):
                path = f"/api/v1/profiles/{request.id}/{rendering}"
                async with brain.local.get(path) as answer:
                    assert answer.status == (200 if status == 200 else 409)


@pytest.mark.slow
async def test_a_bomb_costs_nothing_but_itself(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent, request = await requested(brain)
        bomb = gzip.compress(bytes(64 << 20), compresslevel=1)
        assert len(bomb) < LARGEST_PROFILE_BYTES
        assert (await agent.report(request, "done", pprof=bomb))[0] == 400


@pytest.mark.slow
async def test_a_profile_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent, request = await requested(brain)
        status, _ = await agent.report(request, "done", pprof=bytes(LARGEST_PROFILE_BYTES + 1))
        assert status == 400
        assert (await agent.report(request, "done"))[0] == 200


async def test_a_profile_of_another_node_cannot_be_answered(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        _, request = await requested(brain)
        other = FakeAgent(brain, "n2")
        assert (await other.report(request, "done"))[0] == 403
        assert (await state_of(brain, request.id))[0] == "asked"


async def test_a_profile_that_nobody_asked_for_is_given_up(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent, _ = await requested(brain)
        outcome = ProfileOutcome(id="f" * 16, node="n1", state="running")
        assert (await agent.send(outcome))[0] == 422


async def test_bytes_that_are_no_outcome_are_refused(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent, request = await requested(brain)
        deep = b'{"notes":' + b"[" * 5000
        for body in (b"", b"{", b"[]", b"\xff\xfe", b'{"id": 7}', deep):
            status, answer = await agent.send_bytes(body)
            assert status == 400, answer
        assert (await agent.report(request, "running"))[0] == 200


async def test_polling_for_work_makes_sense_or_is_refused(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        for query in (
            "",
            "node=n1&wait_s=nan",
            "node=n1&wait_s=-1",
            "node=n1&wait_s=x",
            "wait_s=1",
        ):
            async with brain.local.get(f"/uplink/v1/profile-requests?{query}") as answer:
                assert answer.status == 400, query
        async with brain.stranger.get("/uplink/v1/profile-requests?node=n1") as answer:
            assert answer.status == 401


async def test_names_that_would_break_out_of_the_page_stay_text(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>\u2028'\"<!--"
    async with standing_brain(tmp_path / "data") as brain:
        agent, request = await requested(brain)
        assert (await agent.report(request, "done", pprof=content(hostile)))[0] == 200
        async with brain.local.get(f"/api/v1/profiles/{request.id}/flamegraph") as answer:
            assert "<script>alert" not in await answer.text()
