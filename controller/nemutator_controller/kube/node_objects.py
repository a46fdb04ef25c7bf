"""What we read of nodes beyond what they can take, and of Services."""

from collections.abc import Mapping

import msgspec

from nemutator_controller.kube.objects import Condition, Object, Shape
from nemutator_controller.kube.shared_values import no_texts, set_field, shared, shared_texts


class Taint(Shape, frozen=True, gc=False):
    key: str
    value: str = ""
    effect: str = ""
    time_added: str = ""


class NodeAddress(Shape, frozen=True, gc=False):
    type: str
    address: str


class WatchedNodeSpec(Shape, frozen=True, gc=False):
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False

    def __post_init__(self) -> None:
        if self.taints:
            set_field(self, "taints", shared(self.taints))


class WatchedNodeStatus(Shape, frozen=True, gc=False):
    capacity: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    allocatable: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()

    def __post_init__(self) -> None:
        set_field(self, "capacity", shared_texts(self.capacity))
        set_field(self, "allocatable", shared_texts(self.allocatable))
        if self.conditions:
            set_field(self, "conditions", shared(self.conditions))


class WatchedNode(Object, frozen=True, gc=False):
    """A Node, as the brain shows it."""

    spec: WatchedNodeSpec = WatchedNodeSpec()
    status: WatchedNodeStatus = WatchedNodeStatus()


class ServicePort(Shape, frozen=True, gc=False):
    port: int
    name: str = ""
    protocol: str = "TCP"


class ServiceSpec(Shape, frozen=True, gc=False):
    type: str = "ClusterIP"
    cluster_ips: tuple[str, ...] = msgspec.field(default=(), name="clusterIPs")
    selector: Mapping[str, str] | None = None
    """Without one it selects nothing: its addresses are somebody else's business."""
    ports: tuple[ServicePort, ...] = ()


class Service(Object, frozen=True, gc=False):
    spec: ServiceSpec = ServiceSpec()

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether what has *labels* is behind it."""
        wanted = (self.spec.selector or {}).items()
        return bool(wanted) and all(labels.get(key) == value for key, value in wanted)
