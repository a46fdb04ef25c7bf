"""What we read of Kubernetes objects: these fields and no others.

The API server's JSON is decoded straight into these shapes; a field that is not here is skipped
without being built, which is why 150 000 pods fit into memory. Shapes are frozen, hold no cycles
(so the garbage collector need not visit them: `gc=False`), and share equal strings.
"""

from collections.abc import Mapping

import msgspec
from nemutator_common import names

from nemutator_controller.kube.shared_values import (
    no_texts,
    set_field,
    shared,
    shared_moment,
    shared_texts,
)

OURS = f"{names.DOMAIN}/"


class Shape(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Part of a Kubernetes object; unknown fields are ignored."""


class Owner(Shape, frozen=True, gc=False):
    kind: str
    name: str
    uid: str
    controller: bool = False


class Metadata(Shape, frozen=True, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    labels: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    annotations: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    """Only ours (`nemutator.io/…`) are kept: others are as large as people make them."""
    owner_references: tuple[Owner, ...] = ()

    def __post_init__(self) -> None:
        set_field(self, "namespace", shared(self.namespace))
        set_field(self, "creation_timestamp", shared_moment(self.creation_timestamp))
        if self.labels:
            set_field(self, "labels", shared_texts(self.labels))
        if self.annotations:
            set_field(self, "annotations", _ours(self.annotations))
        if self.owner_references:
            set_field(self, "owner_references", shared(self.owner_references))

    @property
    def key(self) -> str:
        """It names the object among those that are there now; its uid does so for ever."""
        return f"{self.namespace}/{self.name}"

    @property
    def controller(self) -> Owner | None:
        """The owner that manages it."""
        # It is asked for all the time, and nearly always the first: a generator would take four times as long.
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class Object(Shape, frozen=True, gc=False):
    """Any object, seen as its metadata."""

    metadata: Metadata


class Resources(Shape, frozen=True, gc=False):
    requests: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    limits: Mapping[str, str] = msgspec.field(default_factory=no_texts)

    def __hash__(self) -> int:
        return hash((*self.requests.values(), *self.limits.values()))


NO_RESOURCES = Resources()


class Container(Shape, frozen=True, gc=False):
    name: str
    image: str = ""
    resources: Resources = NO_RESOURCES
    restart_policy: str = ""

    @property
    def is_sidecar(self) -> bool:
        """Of an init container: whether it runs as long as the pod."""
        return self.restart_policy == "Always"


class PodSpec(Shape, frozen=True, gc=False):
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    host_network: bool = False
    overhead: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    """What its RuntimeClass adds to what its containers request."""
    resources: Resources = NO_RESOURCES
    """Of the pod as a whole, which then count instead of those of its containers."""

    def __post_init__(self) -> None:
        # All pods of a workload have the very same containers, as far as we read them.
        set_field(self, "containers", shared(self.containers))
        if self.init_containers:
            set_field(self, "init_containers", shared(self.init_containers))
        set_field(self, "node_name", shared(self.node_name))
        if self.overhead:
            set_field(self, "overhead", shared_texts(self.overhead))
        if self.resources is not NO_RESOURCES:
            set_field(self, "resources", shared(self.resources))


class Terminated(Shape, frozen=True, gc=False):
    reason: str = ""
    finished_at: str = ""


class LastState(Shape, frozen=True, gc=False):
    """How a container's last run ended."""

    terminated: Terminated | None = None


NEVER_ENDED = LastState()


class ContainerStatus(Shape, frozen=True, gc=False):
    name: str
    container_id: str = msgspec.field(default="", name="containerID")
    restart_count: int = 0
    last_state: LastState = NEVER_ENDED
    allocated_resources: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    """What kubelet has reserved for it; it differs from the spec while a resize is under way."""
    resources: Resources = NO_RESOURCES
    """What it runs with."""

    def __post_init__(self) -> None:
        set_field(self, "name", shared(self.name))
        if self.last_state is not NEVER_ENDED:
            set_field(self, "last_state", shared(self.last_state))
        if self.allocated_resources:
            set_field(self, "allocated_resources", shared_texts(self.allocated_resources))
        if self.resources is not NO_RESOURCES:
            set_field(self, "resources", shared(self.resources))


class Condition(Shape, frozen=True, gc=False):
    type: str
    status: str = ""
    reason: str = ""


class PodAddress(Shape, frozen=True, gc=False):
    ip: str = ""


class PodStatus(Shape, frozen=True, gc=False):
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    """Sidecars are among them: they run as long as the pod."""
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    pod_ip: str = msgspec.field(default="", name="podIP")
    further_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")
    """Where a cluster has two families of addresses, those of the second one."""

    def __post_init__(self) -> None:
        if self.further_ips:
            # The API server names the first one in both places.
            further = tuple(each for each in self.further_ips if each.ip != self.pod_ip)
            set_field(self, "further_ips", further)
        set_field(self, "phase", shared(self.phase))
        if self.conditions:
            set_field(self, "conditions", shared(self.conditions))

    @property
    def is_ready(self) -> bool:
        return any(each.type == "Ready" and each.status == "True" for each in self.conditions)


ENDED = frozenset({"Succeeded", "Failed"})


class Pod(Object, frozen=True, gc=False):
    spec: PodSpec
    status: PodStatus = PodStatus()

    @property
    def has_ended(self) -> bool:
        """Whether all its containers have ended for good, so that it needs no room any more."""
        return self.status.phase in ENDED

    @property
    def is_running(self) -> bool:
        """Whether it runs, and is to go on."""
        return self.status.phase == "Running" and not self.metadata.deletion_timestamp


class RuntimeClass(Object, frozen=True, gc=False):
    handler: str = ""


class LimitRangeItem(Shape, frozen=True, gc=False):
    type: str
    min: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    max: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    max_limit_request_ratio: Mapping[str, str] = msgspec.field(default_factory=no_texts)


class LimitRangeSpec(Shape, frozen=True, gc=False):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Object, frozen=True, gc=False):
    spec: LimitRangeSpec = LimitRangeSpec()


class ResourceQuotaStatus(Shape, frozen=True, gc=False):
    hard: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    used: Mapping[str, str] = msgspec.field(default_factory=no_texts)


class ResourceQuota(Object, frozen=True, gc=False):
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class NodeStatus(Shape, frozen=True, gc=False):
    allocatable: Mapping[str, str] = msgspec.field(default_factory=no_texts)


class Node(Object, frozen=True, gc=False):
    status: NodeStatus = NodeStatus()


def _ours(annotations: Mapping[str, str]) -> Mapping[str, str]:
    ours = {key: value for key, value in annotations.items() if key.startswith(OURS)}
    return ours or no_texts()
