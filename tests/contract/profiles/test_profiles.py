"""Profiles over real sockets: somebody asks, an agent works, somebody looks."""

import asyncio
import gzip
import time
from pathlib import Path
from typing import Any

from nemutator_common.profiles import flamegraph, pprof

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.objects import KEY_ID, REGION, SECRET, FakeBucket
from tests.fakes.profile_stores import FakeProfileStore
from tests.fakes.profiles import heap_content
from tests.fakes.profiling_agents import FakeAgent

PATH = "/api/v1/profiles"
PID = {"target": {"kind": "pid", "value": "123"}, "seconds": 1}


async def asked(brain: StandingBrain, question: object = PID) -> tuple[int, Any]:
    async with brain.local.post(PATH, json=question) as answer:
        return answer.status, await answer.json()


async def shown(brain: StandingBrain, path: str) -> tuple[int, Any]:
    async with brain.local.get(f"{PATH}{path}") as answer:
        return answer.status, await answer.json()


async def test_a_profile_is_asked_for_made_and_looked_at(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(agent.requests(wait_s=20))
            status, profile = await asked(brain)
            assert (status, profile["state"], profile["node"]) == (202, "asked", "n1")
            [request] = await waiting
        assert (request.id, request.seconds, request.hz) == (profile["id"], 1.0, 99)
        assert await agent.report(request, "running") == (
            200,
            {"id": request.id, "state": "running"},
        )
        status, refused = await shown(brain, f"/{request.id}/flamegraph")
        assert (status, refused["error"]) == (409, "it is running")
        for _ in range(2):
            assert (await agent.report(request, "done"))[0] == 200
        status, done = await shown(brain, f"/{request.id}")
        assert (done["state"], done["recorded"], done["lost"]) == ("done", 2, {"stack_map_full": 1})
        assert done["notes"] == ["a note"]
        assert done["grade"] == {
            "rooted": 2,
            "broken": {},
            "calls": {"direct": 3, "wrong": 1},
            "summary": "100 % of stacks reach their root; 75 % of calls are real calls in the code;"
            " 33.3 % lost",
            "breaks": "",
        }
        assert done["link"].endswith(f"{PATH}/{request.id}/flamegraph")
        status, listed = await shown(brain, "")
        assert [one["id"] for one in listed["items"]] == [request.id]
        async with brain.local.get(f"{PATH}/{request.id}/pprof") as answer:
            named = pprof.decode(await answer.read())
            assert {frame.function for frame in named.frames} == {"main.work", "main.idle"}
        async with brain.local.get(f"{PATH}/{request.id}/folded") as answer:
            assert await answer.text() == "main.idle 1\nmain.work 1\n"
        async with brain.local.get(f"{PATH}/{request.id}/flamegraph") as answer:
            assert answer.headers["Content-Security-Policy"] == flamegraph.CONTENT_SECURITY_POLICY
            assert "main.work" in await answer.text()


async def test_contents_lie_in_a_bucket_and_the_database_has_none(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    async with FakeBucket(time.time).serving() as bucket:
        settings = {
            "objects": f"{bucket.url}/brain",
            "objects_region": REGION,
            "objects_access_key": KEY_ID,
            "objects_secret_key_file": str(tmp_path / "secret"),
        }
        async with standing_brain(tmp_path / "data", **settings) as brain:
            agent = FakeAgent(brain)
            await agent.appear()
            await asked(brain)
            [request] = await agent.requests()
            bucket.answers = [(503, b"<Code>SlowDown</Code>")]
            status, refused = await agent.report(request, "done")
            # Nothing is acknowledged that is not kept: the agent sends it again.
            assert (status, bucket.kept) == (503, {})
            assert "asks us to come later" in refused["error"]
            assert (await agent.report(request, "done"))[0] == 200
            assert list(bucket.kept) == [f"brain/profiles/{request.id}.pb.gz"]
            async with brain.local.get(f"{PATH}/{request.id}/pprof") as answer:
                assert pprof.decode(await answer.read()).frames
            bucket.answers = [(403, b"")]
            assert (await shown(brain, f"/{request.id}/folded"))[0] == 503
            assert (await shown(brain, f"/{request.id}"))[1]["state"] == "done"


async def test_the_console_shows_a_flame_graph_under_its_own_policy(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        _, profile = await asked(brain)
        [request] = await agent.requests()
        await agent.report(request, "done")
        url = await brain.link()
        async with brain.browser.get(url, allow_redirects=False) as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        base = url.partition("/open")[0]
        headers = {"Cookie": cookie}
        graph = f"{base}{PATH}/{profile['id']}/flamegraph"
        async with brain.browser.get(graph, headers=headers) as answer:
            assert answer.status == 200
            assert answer.headers["Content-Security-Policy"] == flamegraph.CONTENT_SECURITY_POLICY
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        async with brain.browser.get(graph) as answer:
            assert answer.status == 401
        async with brain.browser.post(f"{base}{PATH}", json=PID, headers=headers) as answer:
            assert answer.status == 202
        foreign = headers | {"Origin": "http://elsewhere.test"}
        async with brain.browser.post(f"{base}{PATH}", json=PID, headers=foreign) as answer:
            assert answer.status == 403


async def made(brain: StandingBrain, agent: FakeAgent, *, heap: bool = False) -> str:
    """The id of a profile that is done."""
    await asked(brain, {"target": PID["target"], "measure": "heap"} if heap else PID)
    [request] = await agent.requests()
    of_heap = {"pprof": heap_content(), "recorded": 1, "seconds": 0.0, "hz": 0} if heap else {}
    assert (await agent.report(request, "done", **of_heap))[0] == 200
    return request.id


async def test_two_are_compared_in_one_flame_graph(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        first, second = await made(brain, agent), await made(brain, agent)
        async with brain.local.get(f"{PATH}/{first}/difference/{second}") as answer:
            assert answer.status == 200
            assert answer.headers["Content-Security-Policy"] == flamegraph.CONTENT_SECURITY_POLICY
            assert '"difference":' in await answer.text()
        heap = await made(brain, agent, heap=True)
        status, refused = await shown(brain, f"/{first}/difference/{heap}")
        assert status == 400
        assert "these two cannot be compared: one counts CPU time" in refused["error"]
        for unknown in ("0123456789abcdef", "x"):
            assert (await shown(brain, f"/{first}/difference/{unknown}"))[0] == 404
            assert (await shown(brain, f"/{unknown}/difference/{first}"))[0] == 404


async def test_what_can_be_profiled_is_listed_and_asked_for_by_name(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        async with brain.local.get("/api/v1/profile-targets?search=SSHD&limit=2") as answer:
            offer = await answer.json()
        assert [one["target"] for one in offer["items"]] == ["pid:1", "pid:2"]
        assert (offer["items"][0]["name"], offer["items"][0]["runtime"]) == ("sshd", "go")
        assert (offer["left"], offer["nodes_left"]) == (3, 0)
        for query in ("limit=0", f"search={'x' * 201}"):
            async with brain.local.get(f"/api/v1/profile-targets?{query}") as answer:
                assert answer.status == 400
        status, profile = await asked(brain, {"target": {"kind": "name", "value": "unit-0"}})
        assert status == 202
        assert profile["target"] == {"kind": "cgroup", "value": "/system.slice/unit-0.service"}
        status, refused = await asked(brain, {"target": {"kind": "name", "value": "sshd"}})
        assert (status, "is the name of several: pid:1 on n1" in refused["error"]) == (409, True)


async def test_its_phases_are_shown_while_it_is_made(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        await asked(brain)
        [request] = await agent.requests()
        await agent.report(request, "running", phase="sampling")
        _, sampling = await shown(brain, f"/{request.id}")
        assert (sampling["state"], sampling["phase"]) == ("running", "sampling")
        assert 0 <= sampling["left_s"] <= 1
        await agent.report(request, "running", phase="symbolising", recorded=55)
        _, symbolising = await shown(brain, f"/{request.id}")
        assert [symbolising[key] for key in ("phase", "recorded", "left_s")] == [
            "symbolising", 55, None,
        ]  # fmt: skip


async def test_a_finished_profile_is_sent_on_where_the_settings_say(tmp_path: Path) -> None:
    async with (
        FakeProfileStore(answers=[503]).serving() as other,
        standing_brain(tmp_path / "data", pyroscope=other.url, parca=other.url) as brain,
    ):
        agent = FakeAgent(brain)
        await agent.appear()
        identity = await made(brain, agent)
        async with asyncio.timeout(60):
            await other.has(2)
        async with brain.local.get(f"{PATH}/{identity}/pprof") as answer:
            stored = await answer.read()
        assert [sent for _, sent in other.kept] == [stored, stored]
        # One of them was refused at first.
        assert len(other.headers) == 3


async def test_a_refusal_is_told_with_its_reason(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        await asked(brain)
        [request] = await agent.requests()
        await agent.report(request, "refused", reason="no BTF: boot a kernel that has it")
        _, refused = await shown(brain, f"/{request.id}")
        assert (refused["state"], refused["link"]) == ("refused", None)
        assert refused["reason"] == "no BTF: boot a kernel that has it"
        status, answer = await shown(brain, f"/{request.id}/folded")
        assert status == 409
        assert "no BTF" in answer["error"]


async def test_a_question_that_makes_no_sense_is_explained(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        assert (await asked(brain))[0] == 409
        await FakeAgent(brain).appear()
        for question, status in (
            ({}, 400),
            ({"target": {"kind": "pid", "value": "x"}}, 400),
            (PID | {"seconds": 1e9}, 400),
            (PID | {"hz": 0}, 400),
            ({"target": {"kind": "pod", "value": "shop/none"}}, 404),
            ({"target": {"kind": "pid", "value": "1", "node": "n9"}}, 404),
            ({"target": {"kind": "pid", "value": "1" * 20_000}}, 413),
        ):
            answered, document = await asked(brain, question)
            assert answered == status, document
            assert document["remedy"]
        for path, status in (("/x", 404), (f"/{'0' * 16}", 404), (f"/{'0' * 16}/pprof", 404)):
            assert (await shown(brain, path))[0] == status
        for query in ("?limit=0", "?limit=x", "?limit=501", "?limit=-1"):
            assert (await shown(brain, query))[0] == 400


async def test_only_so_many_wait_for_one_node(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await FakeAgent(brain).appear()
        statuses = [(await asked(brain))[0] for _ in range(9)]
        assert statuses == [202] * 8 + [429]


async def test_what_was_asked_before_a_restart_is_done_after_it(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        await FakeAgent(brain).appear()
        _, profile = await asked(brain)
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        [request] = await agent.requests()
        assert request.id == profile["id"]
        assert (await agent.report(request, "done"))[0] == 200


async def test_a_compressed_outcome_is_taken(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        await asked(brain)
        [request] = await agent.requests()
        body = gzip.compress(f'{{"id": "{request.id}", "node": "n1", "state": "running"}}'.encode())
        headers = {"Content-Encoding": "gzip"}
        async with brain.local.post("/uplink/v1/profiles", data=body, headers=headers) as answer:
            assert (answer.status, (await answer.json())["state"]) == (200, "running")
