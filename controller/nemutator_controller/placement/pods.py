"""What a scheduler and people ask: a pod, and the nodes that are possible. Their bytes are a stranger's."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from nemutator_controller.cluster.owners import workload
from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.placement.nodes_snapshot import WantedPod

LARGEST_BYTES = 4 << 20
"""Five thousand names of nodes are 1.3 MB at their longest."""

MOST_NODES = 20_000
LONGEST_NAME = 253

Amounts = Mapping[str, str | int | float]


class InvalidPlacementError(ValueError):
    """The body asks for nothing that can be scored."""


class _Shape(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What else is in a pod does not matter here."""


class _Owner(_Shape, frozen=True):
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Metadata(_Shape, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    owner_references: tuple[_Owner, ...] | None = None


class _Resources(_Shape, frozen=True):
    requests: dict[str, str | int | float] | None = None


class _Container(_Shape, frozen=True):
    resources: _Resources = _Resources()
    restart_policy: str | None = None


class _Spec(_Shape, frozen=True):
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] | None = None
    overhead: dict[str, str | int | float] | None = None


class AskedPod(_Shape, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()


class _NodeName(_Shape, frozen=True):
    metadata: _Metadata = _Metadata()


class _Nodes(_Shape, frozen=True):
    items: tuple[_NodeName, ...] | None = None


class _ExtenderArgs(msgspec.Struct, frozen=True, rename="pascal"):
    """Kubernetes gives these three no names of their own in JSON: they are those of Go."""

    pod: AskedPod
    nodes: _Nodes | None = None
    node_names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExtenderQuestion:
    pod: WantedPod
    nodes: tuple[str, ...]
    uid: str = ""
    """Of the pod; empty: the scheduler does not say."""


_extender = msgspec.json.Decoder(_ExtenderArgs)
_pod = msgspec.json.Decoder(AskedPod)


def extender_question(body: bytes) -> ExtenderQuestion:
    """Raises `InvalidPlacementError`."""
    try:
        asked = _extender.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidPlacementError(str(error)[:200]) from error
    if asked.node_names is not None:
        nodes = asked.node_names
    else:
        items = (asked.nodes.items if asked.nodes else None) or ()
        nodes = tuple(each.metadata.name for each in items)
    if len(nodes) > MOST_NODES or any(len(name) > LONGEST_NAME for name in nodes):
        raise InvalidPlacementError(f"NodeNames: at most {MOST_NODES}, of {LONGEST_NAME} letters")
    return ExtenderQuestion(wanted(asked.pod), nodes, asked.pod.metadata.uid[:LONGEST_NAME])


def pod_question(body: bytes) -> WantedPod:
    """Of a pod's manifest. Raises `InvalidPlacementError`."""
    try:
        asked = _pod.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidPlacementError(str(error)[:200]) from error
    if not asked.spec.containers:
        raise InvalidPlacementError("spec.containers: expected a pod with containers")
    for where, what, text in _requests(asked.spec):
        if _parsed(text, what) is None:
            # No API server has read it: who mistyped it would be told where a pod that requests nothing goes.
            raise InvalidPlacementError(f"{where}: {text[:40]!r} is not an amount of {what}")
    return wanted(asked)


def wanted(pod: AskedPod) -> WantedPod:
    """What it requests, as the scheduler counts it, and whose it is."""
    meta, spec = pod.metadata, pod.spec
    running = list(spec.containers)
    starting: list[_Container] = []
    for each in spec.init_containers or ():
        (running if each.restart_policy == "Always" else starting).append(each)
    owner = next((each for each in meta.owner_references or () if each.controller), None)
    kind, name = ("Pod", meta.name)
    if owner is not None:
        kind, name = workload(owner.kind, owner.name, meta.labels or {})
    return WantedPod(
        workload=(meta.namespace or "default", kind, name),
        cpu_cores=_together("cpu", running, starting, spec.overhead),
        memory_bytes=_together("memory", running, starting, spec.overhead),
    )


def _together(
    what: str,
    running: Iterable[_Container],
    starting: Iterable[_Container],
    overhead: Amounts | None,
) -> float:
    always = sum(_amount(each.resources.requests, what) for each in running)
    first = max((_amount(each.resources.requests, what) for each in starting), default=0.0)
    return max(always, first) + _amount(overhead, what)


def _requests(spec: _Spec) -> Iterator[tuple[str, str, str]]:
    """Where each amount stands, of what, and as it is written."""
    for field, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers or ()),
    ):
        for number, each in enumerate(containers):
            where = f"spec.{field}[{number}].resources.requests"
            for what, value in (each.resources.requests or {}).items():
                if what in ("cpu", "memory"):
                    yield f"{where}.{what}", what, str(value)
    for what, value in (spec.overhead or {}).items():
        if what in ("cpu", "memory"):
            yield f"spec.overhead.{what}", what, str(value)


def _parsed(text: str, what: str) -> float | None:
    """None: it is no amount."""
    try:
        found = parse_quantity(text)
        value = found.to_millis() / 1_000 if what == "cpu" else float(found.to_bytes())
    except (QuantityError, OverflowError):
        return None
    return value if value >= 0 else None


def _amount(amounts: Amounts | None, what: str) -> float:
    """What is no amount is nothing: of a scheduler's pods the API server has refused it before us."""
    value = _parsed(str((amounts or {}).get(what, "0")), what)
    return 0.0 if value is None else min(value, 1e18)
