"""Scores over HTTP: for people behind the gate, and for a scheduler."""

import json
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common import names
from nemutator_controller.placement.endpoint import (
    PLACEMENT,
    PRIORITIZE,
    PlacementApi,
    SchedulerExtender,
)
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_ctl.place.view import decode, overview

from tests.contract.gated_apis import served
from tests.controller.placement.nodes import node, snapshot
from tests.controller.placement.test_pods import POD
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

CLOCK = ManualClock()


class Fixed:
    def has_flows(self) -> bool:
        return False

    def node_of(self, uid: str) -> str | None:
        return ""

    async def take(self) -> NodesSnapshot | None:
        return snapshot(
            node("good", used_cores=4.0), node("hot", used_cores=7.9), taken_at=CLOCK.now()
        )


class Two(Fixed):
    async def take(self) -> NodesSnapshot | None:
        nodes = (
            node("a", used_cores=1.0, worst_cores=1.0),
            node("b", used_cores=0.6, worst_cores=0.6),
        )
        return snapshot(*nodes, taken_at=CLOCK.now())


async def asked(
    kept: KeptNodesSnapshot | None, body: bytes, *, may: bool = True
) -> tuple[int, Any]:
    process = fake_process(clock=CLOCK)
    reviews = MemoryReviews()
    reviews.knows("anna-token", "anna")
    if may:
        reviews.allowed.add(("anna", "get", "placements", ""))
    api = PlacementApi(kept, process)
    async with (
        served(api.routes(), reviews, process) as client,
        client.post(PLACEMENT, data=body) as answer,
    ):
        return answer.status, await answer.json()


async def test_people_read_why_a_node_suits() -> None:
    kept = KeptNodesSnapshot(Fixed(), fake_process(clock=CLOCK))
    status, found = await asked(kept, json.dumps(POD).encode())
    assert status == 200
    assert overview(decode(found)).splitlines()[1].startswith("good")
    assert (await asked(kept, b"{}"))[0] == 400
    assert (await asked(kept, b"{}", may=False))[0] == 403
    assert (await asked(None, json.dumps(POD).encode()))[0] == 404


async def prioritized(kept: KeptNodesSnapshot, body: bytes, meter: MemoryMeter) -> tuple[int, Any]:
    extender = SchedulerExtender(kept, fake_process(clock=CLOCK, meter=meter))
    app = web.Application()
    app.add_routes(extender.routes())
    async with TestClient(TestServer(app)) as client, client.post(PRIORITIZE, data=body) as answer:
        return answer.status, await answer.json()


async def test_a_wave_is_spread_until_its_pods_are_seen_and_a_repeated_question_changes_nothing() -> (
    None
):
    kept = KeptNodesSnapshot(Two(), fake_process(clock=CLOCK))
    await kept.fresh()
    app = web.Application()
    app.add_routes(SchedulerExtender(kept, fake_process(clock=CLOCK)).routes())

    async def best(client: Any, uid: str) -> str:
        pod: dict[str, Any] = json.loads(json.dumps(POD))
        pod["metadata"]["uid"] = uid
        body = json.dumps({"Pod": pod, "NodeNames": ["a", "b"]}).encode()
        async with client.post(PRIORITIZE, data=body) as answer:
            found = await answer.json()
        return str(max(found, key=lambda one: one["Score"])["Host"])

    async with TestClient(TestServer(app)) as client:
        assert [await best(client, "u1") for _ in range(3)] == ["a", "a", "a"]
        assert await best(client, "u2") == "b"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"Pod": 1}',
        b'{"Pod": {"metadata": {"uid": 7}}}',
        b'{"Pod": {}, "NodeNames": [null]}',
        b'{"Pod": {}, "Nodes": {"items": [[]]}}',
        b'{"Pod": {"spec": ' + b"[" * 10_000,
    ],
    ids=["empty", "null", "list", "no text", "number", "uid", "name", "node", "deep"],
)
async def test_what_is_no_question_is_refused_and_counted(body: bytes) -> None:
    meter = MemoryMeter()
    kept = KeptNodesSnapshot(Fixed(), fake_process(clock=CLOCK))
    await kept.fresh()
    status, found = await prioritized(kept, body, meter)
    assert (status, list(found)) == (400, ["error", "remedy"])
    assert meter.value(names.PLACEMENTS_SCORED, result="invalid") == 1


async def test_a_scheduler_gets_a_number_for_each_node_that_it_names() -> None:
    meter = MemoryMeter()
    kept = KeptNodesSnapshot(Fixed(), fake_process(clock=CLOCK))
    body = json.dumps({"Pod": POD, "NodeNames": ["hot", "nobody", "good"]}).encode()
    # Before it knows any node, it leaves the scheduler's own scores as they are.
    status, found = await prioritized(kept, body, meter)
    assert (status, {one["Score"] for one in found}) == (200, {0})
    await kept.fresh()
    status, found = await prioritized(kept, body, meter)
    assert [one["Host"] for one in found] == ["hot", "nobody", "good"]
    assert [one["Score"] for one in found] == [0, 5, 10]
    assert (await prioritized(kept, b"{", meter))[0] == 400
    assert [
        meter.value(names.PLACEMENTS_SCORED, result=result)
        for result in ("unknown", "scored", "invalid")
    ] == [1, 1, 1]
