"""Packing, put together, with what it asks of the cluster, of evictions and of seasons."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common import names

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.evictions import ask_for
from nemutator_controller.app.leadership import by_the_leader
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.inventory.model import ClusterFigures, NodeFigures
from nemutator_controller.inventory.pod_demands import PodDemand
from nemutator_controller.inventory.taking import CountedCluster, NotListedYetError
from nemutator_controller.kube.calls import Selection, listing
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.objects import Shape
from nemutator_controller.kube.resources import PODS, WATCHED_NODES
from nemutator_controller.node_marks.marks import (
    NEVER,
    NO_MARKS,
    MarkedNode,
    NodeMarks,
    NodeTaint,
)
from nemutator_controller.packing.emptying import EVERY_S, NodeEmptying
from nemutator_controller.packing.endpoint import PackingApi
from nemutator_controller.packing.model import (
    NO_CEILING,
    NodeContents,
    OversellCeiling,
    PackingUnknownError,
    PackNode,
    PackPod,
)
from nemutator_controller.packing.pods import pods_in
from nemutator_controller.seasons.calendars import DAY_S

KEEPS = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
HARD = (NEVER, "NoExecute")

Amounts = tuple[int, int]
"""Millis of CPU and bytes of memory."""

SHORTEST_ROUND_S = 2.0
"""However short a day is."""

MOST_OF_A_NODE = 1_000
"""Pods that are read of one node; the API server's own limit for a node is a tenth of it."""


def node_emptying(
    context: BrainContext,
    counted: CountedCluster | None,
    queue: EvictionQueue | None,
    seasons: BrainSeasons,
) -> NodeEmptying | None:
    """None: there is no cluster."""
    cluster = context.cluster
    if cluster is None or counted is None or queue is None:
        return None
    return NodeEmptying(
        SeasonThatPacks(seasons),
        NodesToPack(cluster, counted, context.settings.namespace),
        QueuedMoves(queue, context),
        context.process,
        most=context.settings.packing_nodes,
        every_s=max(SHORTEST_ROUND_S, EVERY_S * context.settings.season_day_s / DAY_S),
    )


def packing_part(context: BrainContext, emptying: NodeEmptying | None) -> Part:
    cluster = context.cluster
    routes = PackingApi(emptying).routes()
    if cluster is None or emptying is None:
        return Part(routes=routes)
    tasks = []
    if context.settings.packing_nodes:
        tasks.append(Task(TaskPhase.WORK, "empty nodes", emptying.run, alone=True))
    return Part(routes=by_the_leader(routes, cluster.leadership, reading=True), tasks=tasks)


@dataclass(frozen=True, slots=True)
class SeasonThatPacks:
    """The `PackingSeason`."""

    seasons: BrainSeasons

    def packs_by(self) -> str | None:
        return self.seasons.behaviour().packs_by if self.seasons.switching.is_settled else None

    def ceiling(self) -> OversellCeiling:
        if (said := self.seasons.behaviour().oversell) is None:
            return NO_CEILING
        return OversellCeiling(cpu=_part(said.cpu_percent), memory=_part(said.memory_percent))


def _part(percent: int | None) -> float | None:
    return None if percent is None else percent / 100


@dataclass(frozen=True, slots=True)
class EmptyingMarks:
    """`NodeWishes`: a taint on nodes that are emptied, and a note on those that are empty."""

    emptying: NodeEmptying
    keys: frozenset[str] = frozenset({str(names.EMPTYING), str(names.REMOVABLE)})

    async def refresh(self) -> None:
        return None

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        if self.emptying.policy is None:
            return None
        one = self.emptying.chosen.get(node.name)
        if one is None:
            return NO_MARKS
        key = str(names.EMPTYING)
        notes = {str(names.REMOVABLE): one.why} if one.state == "removable" else {}
        return NodeMarks({key: NodeTaint(key)}, annotations=notes)


class _RawMetadata(Shape, frozen=True, gc=False):
    annotations: Mapping[str, str] = {}


class _RawNode(Shape, frozen=True, gc=False):
    metadata: _RawMetadata = _RawMetadata()


class _RawNodes(Shape, frozen=True, gc=False):
    items: tuple[_RawNode, ...] = ()


@dataclass(frozen=True, slots=True)
class NodesToPack:
    """The `PackedNodes`. What informers do not keep of pods and nodes is read from the API server for the few in question."""

    cluster: Cluster
    counted: CountedCluster
    namespace: str

    async def now(self) -> Sequence[PackNode] | None:
        try:
            figures = await self.counted.now()
        except NotListedYetError:
            return None
        # In a thread: it goes through all pods.
        limits = await asyncio.to_thread(limits_by_node, figures)
        return [
            pack_node(one, limits.get(one.name, (0, 0)))
            for one in figures.nodes.values()
            if one.node is not None
        ]

    async def contents_of(self, node: str) -> NodeContents:
        of_node = Selection(fields=f"spec.nodeName={node}")
        itself = Selection(fields=f"metadata.name={node}")
        transport = self.cluster.reader.transport
        try:
            body = await transport.send(listing(PODS, of_node, limit=MOST_OF_A_NODE))
            raw = await transport.send(listing(WATCHED_NODES, itself, limit=1))
            found = msgspec.json.decode(raw, type=_RawNodes)
            figures = await self.counted.now()
        except (KubeError, msgspec.MsgspecError, NotListedYetError) as error:
            raise PackingUnknownError(str(error)[:200]) from error
        requests, limits = await asyncio.to_thread(pods_on, figures, node)
        budgets = figures.objects.disruption_budgets.values()
        if "poddisruptionbudgets" in figures.objects.unlisted:
            raise PackingUnknownError("PodDisruptionBudgets are not listed yet")
        pods = pods_in(body, requests, budgets, own_namespace=self.namespace, limits=limits)
        keeps = any(one.metadata.annotations.get(KEEPS) == "true" for one in found.items)
        return NodeContents(pods=pods, kept=f"{KEEPS}: true" if keeps else "")


def limits_by_node(figures: ClusterFigures) -> dict[str, Amounts]:
    """What all pods of each node may use together."""
    found: dict[str, Amounts] = {}
    for workload in figures.workloads.values():
        for pod, demand in zip(workload.pods.pods, workload.pods.demands, strict=True):
            cpu, memory = found.get(pod.spec.node_name, (0, 0))
            more_cpu, more_memory = _limits(demand)
            found[pod.spec.node_name] = cpu + more_cpu, memory + more_memory
    return found


def pods_on(figures: ClusterFigures, node: str) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
    """What the pods of *node* request, and what they may use, by uid."""
    requests: dict[str, Amounts] = {}
    limits: dict[str, Amounts] = {}
    for workload in figures.workloads.values():
        for pod, demand in zip(workload.pods.pods, workload.pods.demands, strict=True):
            if pod.spec.node_name == node:
                wanted, uid = demand.requests, pod.metadata.uid
                requests[uid] = wanted.cpu_millis, wanted.memory_bytes
                limits[uid] = _limits(demand)
    return requests, limits


def _limits(demand: PodDemand) -> Amounts:
    wanted, limits = demand.requests, demand.limits
    return (
        max(limits.cpu_millis, wanted.cpu_millis),
        max(limits.memory_bytes, wanted.memory_bytes),
    )


def pack_node(one: NodeFigures, limits: Amounts) -> PackNode:
    node, tally = one.node, one.tally
    taints = () if node is None else node.spec.taints
    labels: Mapping[str, str] = {} if node is None else node.metadata.labels
    hard = next((each.key for each in taints if each.effect in HARD), "")
    cordoned = node is not None and node.spec.unschedulable
    takes_none = (
        "it is not ready"
        if not one.is_ready
        else "it is cordoned"
        if cordoned
        else f"it has the taint {hard}"
        if hard
        else ""
    )
    controls = any(each in labels for each in CONTROL_PLANE)
    cpu = one.allocatable.cpu_millis
    raw = one.raw_cpu_millis
    used = None if tally.cpu_cores is None or raw <= 0 else 1_000 * tally.cpu_cores / raw
    return PackNode(
        name=one.name,
        labels=labels,
        cpu_millis=cpu,
        memory_bytes=one.allocatable.memory_bytes,
        most_pods=110 if one.most_pods is None else one.most_pods,
        requested_cpu=tally.requests.cpu_millis,
        requested_memory=tally.requests.memory_bytes,
        limited_cpu=limits[0],
        limited_memory=limits[1],
        pods=tally.pods,
        used_share=used,
        takes_none=takes_none,
        kept="it is of the control plane" if controls else takes_none,
        is_marked=any(each.key == names.EMPTYING for each in taints),
    )


@dataclass(frozen=True, slots=True)
class QueuedMoves:
    """The `PackingEvictions`: those of everybody, with their budgets and their journal."""

    queue: EvictionQueue
    context: BrainContext

    async def ask(self, pods: Sequence[PackPod], reason: str) -> str:
        cluster = self.context.cluster
        assert cluster is not None
        there = [cluster.evictable.find(pod.uid) for pod in pods]
        chosen = [one for one in there if one is not None and one.workload is not None]
        if not chosen:
            return ""
        selection = f"pods of node {chosen[0].node}"
        return await ask_for(self.queue, chosen, reason, selection, self.context.process)

    def waits(self, uids: Collection[str]) -> bool:
        return bool(self.queue.uids & set(uids))

    async def cancel(self, request: str) -> None:
        await self.queue.cancel(request)
