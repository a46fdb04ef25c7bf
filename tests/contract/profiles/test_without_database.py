"""The API of profiles while the database does not answer."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.pods import NoRunningPods
from nemutator_controller.profiles.endpoint import PATH, ProfilesApi
from nemutator_controller.profiles.profile_queue import ProfileQueue
from nemutator_controller.profiles.target_offers import TargetOffers

from tests.fakes.batches import batch
from tests.fakes.process import fake_process
from tests.fakes.profiles import FixedPods, MemoryProfiles

ONE = f"{PATH}/0123456789abcdef"
NODE = ReportedNode.of("n1", "e1", 1, 0.0, batch((1,)).envelopes[0].report)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PATH),
        ("POST", PATH),
        ("GET", ONE),
        ("GET", f"{ONE}/pprof"),
        ("GET", f"{ONE}/folded"),
        ("GET", f"{ONE}/flamegraph"),
    ],
)
async def test_each_path_says_what_is_wrong_and_what_to_do(method: str, path: str) -> None:
    store, process = MemoryProfiles(), fake_process()
    store.broken = "full"
    queue = ProfileQueue(store, most=9, most_bytes=9, process=process)
    api = ProfilesApi(
        queue,
        store,
        nodes=lambda: [NODE],
        pods=FixedPods(),
        targets=TargetOffers(lambda: [NODE], NoRunningPods()),
        link=str,
        process=process,
    )
    app = web.Application()
    app.add_routes(api.routes())
    question = {"target": {"kind": "pid", "value": "1"}}
    async with (
        TestClient(TestServer(app)) as client,
        client.request(method, path, json=question if method == "POST" else None) as response,
    ):
        assert response.status == 507
        document = await response.json()
    assert document["error"].startswith("the database: no space left")
    assert document["remedy"]
