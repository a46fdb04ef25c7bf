"""The choice of pods for windows, asked of a whole brain and of its API alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_common.names import PROFILE_WINDOWS
from nemutator_common.windows import MOST_CANDIDATES, PODS_PATH, WindowCandidates
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.gates import CALLER
from nemutator_controller.app.windows import window_choice
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.windows.choice import DeclaredPod, WindowChoice
from nemutator_controller.windows.endpoint import WindowPodsApi

from tests.fakes.brains import standing_brain
from tests.fakes.meters import MemoryMeter


@dataclass
class Pods:
    """The `NodePods`."""

    found: dict[tuple[str, str], DeclaredPod] = field(default_factory=dict)

    def find(self, node: str, uid: str) -> DeclaredPod | None:
        return self.found.get((node, uid))


class Api:
    def __init__(self) -> None:
        self.pods, self.meter = Pods(), MemoryMeter()
        api = WindowPodsApi(self.pods, WindowChoice(), self.meter)

        @web.middleware
        async def as_agent(request: web.Request, handler: Any) -> Any:
            request[CALLER] = Caller("agent", "n1")
            return await handler(request)

        self.app = web.Application(middlewares=[as_agent])
        self.app.add_routes([route.route for route in api.routes()])

    async def ask(self, body: bytes) -> tuple[int, Any]:
        async with TestClient(TestServer(self.app)) as client:
            answer = await client.post(PODS_PATH, data=body)
            return answer.status, await answer.json()


def asked(uids: Sequence[str], *, node: str = "n1") -> bytes:
    return msgspec.json.encode(WindowCandidates(node, tuple(uids)))


async def test_a_node_learns_which_of_its_pods_may_be_looked_at() -> None:
    api = Api()
    api.pods.found = {
        ("n1", "a"): DeclaredPod("shop", {}, {}),
        ("n1", "b"): DeclaredPod("shop", {}, {PROFILE_WINDOWS: "off"}),
        ("n2", "c"): DeclaredPod("shop", {}, {}),
    }
    assert await api.ask(asked("abcd")) == (200, {"uids": ["a"]})


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "malformed"),
        (asked(["x"] * (MOST_CANDIDATES + 1)), 400, "bounds"),
        (asked("a", node="n2"), 403, "forbidden"),
    ],
)
async def test_what_is_no_question_is_refused(body: bytes, status: int, reason: str) -> None:
    api = Api()
    answer = await api.ask(body)
    assert answer[0] == status
    assert api.meter.value(names.BATCHES_REFUSED, reason=reason) == 1


async def test_off_clusters_no_pod_may_be(tmp_path: Path) -> None:
    async with (
        standing_brain(tmp_path / "data") as brain,
        brain.local.post(PODS_PATH, data=asked("a")) as answer,
    ):
        assert (answer.status, await answer.json()) == (200, {"uids": []})


def test_settings_choose(tmp_path: Path) -> None:
    settings = BrainSettings(
        data_dir=tmp_path, window_namespaces="shop, bank", window_selector="app=web"
    )
    choice = window_choice(settings)
    assert choice.namespaces == {"shop", "bank"}
    assert choice.allows(DeclaredPod("bank", {"app": "web"}, {}))
    assert not choice.allows(DeclaredPod("bank", {}, {}))
    with pytest.raises(OperatorError, match="window_selector"):
        window_choice(BrainSettings(data_dir=tmp_path, window_selector="app in"))
