"""What kubelet puts off is read and ends, and what the API server says that a node cannot hold is known before it says so."""

import json
from dataclasses import dataclass

import msgspec
import pytest
from nemutator_controller.app.sized_pods import sized_pod
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.node_room import lacking, needs_of
from nemutator_controller.updating.records import GivenAmount, SizedPod

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.fakes.pods import picture
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(600)

SMALL = {"requests": {"cpu": "50m"}}


@dataclass(frozen=True, slots=True)
class Resizable:
    cluster: Cluster
    where: str
    name: str

    def now(self) -> SizedPod:
        return sized_pod(
            msgspec.convert(self.cluster.get("pod", self.name, self.where), Pod), picture()
        )

    def ask(self, cpu: str) -> None:
        wanted = {"containers": [{"name": "app", "resources": {"requests": {"cpu": cpu}}}]}
        self.cluster.kubectl(
            "patch", "pod", self.name, self.where, "--subresource=resize",
            f"--patch={json.dumps({'spec': wanted})}",
        )  # fmt: skip

    def is_said(self, state: str) -> None:
        until(lambda: self.now().state == state, f"kubelet says {state!r}", within_s=120)

    def asks(self, cpu: str) -> GivenAmount:
        before, after = self.now().containers[0].requests["cpu"], parse_quantity(cpu)
        return GivenAmount(
            container="app", side="requests", resource="cpu", before=before, after=after, reason=""
        )


@pytest.fixture
def resizable(cluster: Cluster, node: Node, namespace: str) -> list[Resizable]:
    names = ("large", "sized")
    sidecar = {**container(resources=SMALL), "name": "beside", "restartPolicy": "Always"}
    for name in names:
        spec = {"containers": [container(resources=SMALL)], "initContainers": [sidecar]}
        cluster.apply(sleeping(name, namespace, **spec))
    for name in names:
        wait_ready(cluster, namespace, f"pod/{name}")
    return [Resizable(cluster, f"--namespace={namespace}", name) for name in names]


def room_of(cluster: Cluster) -> int:
    """Thousandths of a core."""
    [one] = cluster.get("nodes")["items"]
    return parse_quantity(one["status"]["allocatable"]["cpu"]).to_millis()


def test_what_kubelet_puts_off_is_read_and_ends(resizable: list[Resizable]) -> None:
    large, sized = resizable
    half = f"{room_of(large.cluster) // 2}m"
    large.ask(half)
    sized.ask(half)
    # Either has room, and not both.
    until(lambda: "Deferred" in {large.now().state, sized.now().state}, "one waits", within_s=120)
    waiting, other = (large, sized) if large.now().state == "Deferred" else (sized, large)
    other.ask("50m")
    waiting.is_said("")
    # What waits may be taken back as well.
    other.ask(half)
    other.is_said("Deferred")
    other.ask("50m")
    other.is_said("")


def test_what_the_api_server_refuses_for_its_node_is_known_before(
    resizable: list[Resizable],
) -> None:
    """Its sidecar requests 50m, too."""
    sized = resizable[-1]
    whole = room_of(sized.cluster)
    room = {"cpu": parse_quantity(f"{whole}m")}
    most, more = f"{whole - 50}m", f"{whole - 49}m"
    assert lacking(needs_of(sized.now(), [sized.asks(most)]), room) == {}
    assert list(lacking(needs_of(sized.now(), [sized.asks(more)]), room)) == ["cpu"]
    with pytest.raises(KubectlError, match="enough allocatable resources"):
        sized.ask(more)
    sized.ask(most)
