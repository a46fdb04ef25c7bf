"""Whether a pod may be moved off its node, from its manifest: pure.

What the cluster autoscaler takes for a reason to keep a node is one here too: a node that it would not remove is not
emptied in vain. What the scheduler alone can judge (required affinity, hard spreading) keeps a pod where it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from nemutator_controller.kube.objects import Shape
from nemutator_controller.kube.workload_objects import DisruptionBudget
from nemutator_controller.packing.model import PackingUnknownError, PackPod

SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
MIRROR = "kubernetes.io/config.mirror"
COMPONENT = "app.kubernetes.io/component"

LARGEST_BYTES = 32 << 20
"""Of the pods of one node: some hundred with large manifests."""

NOTHING_LIMITED: Mapping[str, tuple[int, int]] = {}

NO_NEW_POD_OF = frozenset({"Job", "CronJob"})

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class _Owner(Shape, frozen=True, gc=False):
    kind: str = ""
    controller: bool = False


class _Meta(Shape, frozen=True, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner_references: tuple[_Owner, ...] = ()
    deletion_timestamp: str = ""


class _EmptyDir(Shape, frozen=True, gc=False):
    medium: str = ""


class _Volume(Shape, frozen=True, gc=False):
    name: str = ""
    empty_dir: _EmptyDir | None = None
    host_path: Mapping[str, Any] | None = None
    persistent_volume_claim: Mapping[str, Any] | None = None
    ephemeral: Mapping[str, Any] | None = None


class _Port(Shape, frozen=True, gc=False):
    host_port: int = 0


class _Container(Shape, frozen=True, gc=False):
    ports: tuple[_Port, ...] = ()


class _Spread(Shape, frozen=True, gc=False):
    when_unsatisfiable: str = ""


class _Spec(Shape, frozen=True, gc=False):
    node_selector: Mapping[str, str] = {}
    affinity: Mapping[str, Any] | None = None
    topology_spread_constraints: tuple[_Spread, ...] = ()
    volumes: tuple[_Volume, ...] = ()
    containers: tuple[_Container, ...] = ()
    host_network: bool = False


class _Status(Shape, frozen=True, gc=False):
    phase: str = ""


class _Pod(Shape, frozen=True, gc=False):
    metadata: _Meta
    spec: _Spec = _Spec()
    status: _Status = _Status()


class _PodList(Shape, frozen=True, gc=False):
    items: tuple[_Pod, ...]


_decoder = msgspec.json.Decoder(_PodList)


def pods_in(
    body: bytes,
    requests: Mapping[str, tuple[int, int]],
    budgets: Iterable[DisruptionBudget],
    *,
    own_namespace: str,
    limits: Mapping[str, tuple[int, int]] = NOTHING_LIMITED,
) -> tuple[PackPod, ...]:
    """The pods of a PodList that go on. *requests*, *limits*: millicores and bytes by uid. Raises `PackingUnknownError`."""
    if len(body) > LARGEST_BYTES:
        raise PackingUnknownError(f"its pods are longer than {LARGEST_BYTES} bytes")
    try:
        found = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise PackingUnknownError(f"its pods cannot be read: {error}"[:200]) from error
    held = [each for each in budgets if each.status.disruptions_allowed <= 0]
    made = []
    for pod in found.items:
        if pod.status.phase in ("Succeeded", "Failed") or pod.metadata.deletion_timestamp:
            continue
        meta = pod.metadata
        known = requests.get(meta.uid)
        cpu, memory = known or (0, 0)
        limit_cpu, limit_memory = limits.get(meta.uid, (cpu, memory))
        gives_way = meta.namespace == own_namespace and meta.labels.get(COMPONENT) == "buffer"
        made.append(
            PackPod(
                namespace=meta.namespace,
                name=meta.name,
                uid=meta.uid,
                cpu_millis=cpu,
                memory_bytes=memory,
                limit_cpu=limit_cpu,
                limit_memory=limit_memory,
                node_selector=pod.spec.node_selector,
                stays="" if gives_way else _why_it_stays(pod, own_namespace),
                waits=""
                if gives_way
                else _why_it_waits(meta, held)
                or ("" if known else "what it requests is not known yet"),
                goes_along=_goes_along(meta),
                gives_way=gives_way,
            )
        )
    return tuple(made)


def _goes_along(meta: _Meta) -> bool:
    return MIRROR in meta.annotations or any(
        one.kind in ("DaemonSet", "Node") for one in meta.owner_references if one.controller
    )


def _why_it_waits(meta: _Meta, held: Sequence[DisruptionBudget]) -> str:
    for budget in held:
        selector = budget.spec.selector
        same = budget.metadata.namespace == meta.namespace
        if same and selector is not None and selector.selects(meta.labels):
            return f"the PodDisruptionBudget {budget.metadata.name} lets none go now"
    return ""


def _why_it_stays(pod: _Pod, own_namespace: str) -> str:
    meta, spec = pod.metadata, pod.spec
    safe = meta.annotations.get(SAFE)
    if safe == "false":
        return f"{SAFE}: false"
    owner = next((one for one in meta.owner_references if one.controller), None)
    if owner is None:
        return "nobody would make another one"
    if owner.kind in NO_NEW_POD_OF:
        return f"it belongs to a {owner.kind}, of which another pod is another attempt"
    if meta.namespace == own_namespace:
        return "it is nemutator's own"
    if meta.namespace == "kube-system" and safe != "true":
        return f"it is of kube-system, without {SAFE}: true"
    return _why_it_is_bound(spec, meta.annotations, is_safe=safe == "true")


def _why_it_is_bound(spec: _Spec, annotations: Mapping[str, str], *, is_safe: bool) -> str:
    """What ties it to its node, or to nodes that only the scheduler can tell."""
    may_go = {one.strip() for one in annotations.get(SAFE_VOLUMES, "").split(",")}
    for volume in spec.volumes:
        if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
            return f"its volume {volume.name} may not follow it"
        is_local = volume.host_path is not None or (
            volume.empty_dir is not None and volume.empty_dir.medium != "Memory"
        )
        if is_local and not is_safe and volume.name not in may_go:
            return f"its volume {volume.name} is local, without {SAFE}: true"
    if spec.host_network or any(port.host_port for each in spec.containers for port in each.ports):
        return "it needs a port of its node"
    if any(one.when_unsatisfiable == "DoNotSchedule" for one in spec.topology_spread_constraints):
        return "it has to be spread, which only the scheduler can judge"
    for rules in (spec.affinity or {}).values():
        if isinstance(rules, Mapping) and rules.get(_REQUIRED):
            return "it has required affinity, which only the scheduler can judge"
    return ""
