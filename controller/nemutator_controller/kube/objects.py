"""What we read of Kubernetes objects: these fields and no others.

The API server's JSON is decoded straight into these shapes; a field that is not here is skipped
without being built, which is why 150 000 pods fit into memory. Shapes are frozen, hold no cycles
(so the garbage collector need not visit them: `gc=False`), and share equal strings.
"""

import functools
from collections.abc import Hashable, Mapping

import msgspec
from nemutator_common import names


# Not `sys.intern`: on Python 3.12 that keeps each string for ever.
@functools.lru_cache(maxsize=1 << 16)
def _one(value: Hashable) -> Hashable:
    """The one copy of *value*: a string, or a tuple of shapes that many objects have alike."""
    return value


@functools.lru_cache(maxsize=1 << 16)
def _texts(*flat: str) -> Mapping[str, str]:
    """The one mapping with these keys, which come first, and these values, in the same order."""
    half = len(flat) // 2
    return dict(zip(flat[:half], flat[half:], strict=True))


_set = msgspec.structs.force_setattr
# Only used while an object is made, before anybody else has seen it.


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
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    """Only ours (`nemutator.io/…`) are kept: others are as large as people make them."""
    owner_references: tuple[Owner, ...] = ()

    def __post_init__(self) -> None:
        _set(self, "namespace", _one(self.namespace))
        if self.labels:
            _set(self, "labels", _texts(*self.labels, *self.labels.values()))
        if self.annotations:
            _set(self, "annotations", _ours(self.annotations))
        if self.owner_references:
            _set(self, "owner_references", _one(self.owner_references))

    @property
    def key(self) -> str:
        """It names the object among those that are there now; its uid does so for ever."""
        return f"{self.namespace}/{self.name}"

    @property
    def controller(self) -> Owner | None:
        """The owner that manages it."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Object(Shape, frozen=True, gc=False):
    """Any object, seen as its metadata."""

    metadata: Metadata


class Resources(Shape, frozen=True, gc=False):
    requests: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}

    def __hash__(self) -> int:
        return hash((*self.requests.values(), *self.limits.values()))


class Container(Shape, frozen=True, gc=False):
    name: str
    image: str = ""
    resources: Resources = Resources()


class PodSpec(Shape, frozen=True, gc=False):
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""

    def __post_init__(self) -> None:
        # All pods of a workload have the very same containers, as far as we read them.
        _set(self, "containers", _one(self.containers))
        if self.init_containers:
            _set(self, "init_containers", _one(self.init_containers))
        _set(self, "node_name", _one(self.node_name))


class ContainerStatus(Shape, frozen=True, gc=False):
    name: str
    container_id: str = msgspec.field(default="", name="containerID")


class Condition(Shape, frozen=True, gc=False):
    type: str
    status: str = ""


class PodStatus(Shape, frozen=True, gc=False):
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    """Sidecars are among them: they run as long as the pod."""
    phase: str = ""
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        _set(self, "phase", _one(self.phase))
        if self.conditions:
            _set(self, "conditions", _one(self.conditions))

    @property
    def is_ready(self) -> bool:
        return any(each.type == "Ready" and each.status == "True" for each in self.conditions)


class Pod(Object, frozen=True, gc=False):
    spec: PodSpec
    status: PodStatus = PodStatus()

    @property
    def is_running(self) -> bool:
        """Whether it runs, and is to go on."""
        return self.status.phase == "Running" and not self.metadata.deletion_timestamp


class RuntimeClass(Object, frozen=True, gc=False):
    handler: str = ""


class LimitRangeItem(Shape, frozen=True, gc=False):
    type: str
    min: Mapping[str, str] = {}
    max: Mapping[str, str] = {}
    max_limit_request_ratio: Mapping[str, str] = {}


class LimitRangeSpec(Shape, frozen=True, gc=False):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Object, frozen=True, gc=False):
    spec: LimitRangeSpec = LimitRangeSpec()


class ResourceQuotaStatus(Shape, frozen=True, gc=False):
    hard: Mapping[str, str] = {}
    used: Mapping[str, str] = {}


class ResourceQuota(Object, frozen=True, gc=False):
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class NodeStatus(Shape, frozen=True, gc=False):
    allocatable: Mapping[str, str] = {}


class Node(Object, frozen=True, gc=False):
    status: NodeStatus = NodeStatus()


def _ours(annotations: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in annotations.items() if key.startswith(OURS)}
