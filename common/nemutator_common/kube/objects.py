"""What we read of Kubernetes objects: these fields and no others.

The API server's JSON is decoded straight into these shapes; a field that is not here is skipped
without being built, which is why 150 000 pods fit into memory. Shapes are frozen, hold no cycles
(so the garbage collector need not visit them: `gc=False`), and share equal strings.
"""

import functools
from collections.abc import Mapping

import msgspec

from nemutator_common import names


@functools.lru_cache(maxsize=1 << 16)
def shared(text: str) -> str:
    """The one copy of *text*. Not `sys.intern`: on Python 3.12 that keeps each string for ever."""
    return text


class Shape(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Part of a Kubernetes object; unknown fields are ignored."""

    def _share(self, *fields: str) -> None:
        # Only called while an object is made, before anybody else has seen it.
        for field in fields:
            msgspec.structs.force_setattr(self, field, shared(getattr(self, field)))


class Owner(Shape, frozen=True, gc=False):
    kind: str
    name: str
    uid: str
    controller: bool = False

    def __post_init__(self) -> None:
        self._share("kind", "name", "uid")


class Metadata(Shape, frozen=True, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    """Ours only (`nemutator.io/…`): others' are as large as people make them."""
    owner_references: tuple[Owner, ...] = ()

    def __post_init__(self) -> None:
        self._share("namespace")
        set_field = msgspec.structs.force_setattr
        if self.labels:
            labels = {shared(key): shared(value) for key, value in self.labels.items()}
            set_field(self, "labels", labels)
        if self.annotations:
            set_field(self, "annotations", _ours(self.annotations))

    @property
    def key(self) -> str:
        """What tells it from others of its resource at one moment; its uid tells it for ever."""
        return f"{self.namespace}/{self.name}"

    @property
    def controller(self) -> Owner | None:
        """The owner that manages it."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Object(Shape, frozen=True, gc=False):
    """Any object, seen as its metadata."""

    metadata: Metadata


class Condition(Shape, frozen=True, gc=False):
    type: str
    status: str
    reason: str = ""

    def __post_init__(self) -> None:
        self._share("type", "status", "reason")


class Resources(Shape, frozen=True, gc=False):
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}

    def __post_init__(self) -> None:
        for field in ("requests", "limits"):
            quantities: Mapping[str, str] = getattr(self, field)
            if quantities:
                few = {shared(key): shared(value) for key, value in quantities.items()}
                msgspec.structs.force_setattr(self, field, few)


class Container(Shape, frozen=True, gc=False):
    name: str
    image: str = ""
    resources: Resources = Resources()
    restart_policy: str = ""
    """`Always` on an init container makes it a sidecar."""

    def __post_init__(self) -> None:
        self._share("name", "image", "restart_policy")


class PodSpec(Shape, frozen=True, gc=False):
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    service_account_name: str = ""

    def __post_init__(self) -> None:
        self._share("node_name", "service_account_name")


class ContainerStatus(Shape, frozen=True, gc=False):
    name: str
    container_id: str = msgspec.field(default="", name="containerID")
    ready: bool = False
    restart_count: int = 0

    def __post_init__(self) -> None:
        self._share("name")


class PodStatus(Shape, frozen=True, gc=False):
    phase: str = ""
    qos_class: str = ""
    start_time: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()

    def __post_init__(self) -> None:
        self._share("phase", "qos_class")


class Pod(Object, frozen=True, gc=False):
    spec: PodSpec
    status: PodStatus = PodStatus()


class NodeSpec(Shape, frozen=True, gc=False):
    unschedulable: bool = False


class NodeStatus(Shape, frozen=True, gc=False):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True, gc=False):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Shape, frozen=True, gc=False):
    phase: str = ""


class Namespace(Object, frozen=True, gc=False):
    status: NamespaceStatus = NamespaceStatus()


class PodTemplate(Shape, frozen=True, gc=False):
    spec: PodSpec


class WorkloadSpec(Shape, frozen=True, gc=False):
    template: PodTemplate
    replicas: int | None = None
    """None: a kind that has none (a DaemonSet)."""


class Workload(Object, frozen=True, gc=False):
    """A Deployment, StatefulSet or DaemonSet: who makes pods, and what they ask for."""

    spec: WorkloadSpec


def _ours(annotations: Mapping[str, str]) -> dict[str, str]:
    return {
        shared(key): value
        for key, value in annotations.items()
        if key.startswith(f"{names.DOMAIN}/")
    }
