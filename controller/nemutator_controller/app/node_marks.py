"""Marks of nodes, put together, with what they ask of the cluster, of reports and of placement."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import ConflictError, KubeError, NotFoundError
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.label_selectors import parse_selector
from nemutator_controller.kube.node_objects import WatchedNode
from nemutator_controller.kube.resources import WATCHED_NODES
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.node_marks.marking import EVERY_S, NodeMarking
from nemutator_controller.node_marks.marks import (
    MarkedNode,
    NodeMarks,
    NodeTaint,
    NotMarkedNodeError,
)
from nemutator_controller.node_marks.ports import NodeWishes
from nemutator_controller.node_marks.pressure import (
    WINDOW_S,
    NodePressures,
    PressureSample,
)
from nemutator_controller.node_marks.wishes import PlacementMarks, PressureMarks, ReserveMarks
from nemutator_controller.placement.nodes_snapshot import WantedPod
from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_controller.placement.scores import scores

USUAL_POD = WantedPod(workload=("", "", ""), cpu_cores=0.25, memory_bytes=float(256 << 20))
"""Nobody's: what is known of a workload by name counts for schedulers and people, and not in a label for all."""


def node_marks_part(
    context: BrainContext,
    nodes: Nodes,
    snapshot: KeptNodesSnapshot | None,
    seasons: BrainSeasons,
    further: Sequence[NodeWishes] = (),
) -> Part:
    settings, cluster = context.settings, context.cluster
    if cluster is None or snapshot is None:
        return Part()
    wishes: list[NodeWishes] = list(further)
    if settings.pressure_taints:
        wishes.append(pressure_wishes(context, nodes))
    if settings.placement_labels:
        wishes.append(_placement_wishes(snapshot))
    if settings.reserve_nodes:
        selector = parse_selector(settings.reserve_nodes)
        is_open = _is_open(seasons)
        wishes.append(RefreshedWishes(ReserveMarks(selector.matches, is_open), _nothing))
    every_s = EVERY_S * settings.neighbour_minute_s / 60
    marking = NodeMarking(
        NodesInCluster(cluster), wishes, context.process, settings.namespace, every_s
    )
    return Part(tasks=[Task(TaskPhase.WORK, "mark nodes", marking.run, alone=True)])


class Marks(Protocol):
    @property
    def keys(self) -> frozenset[str]: ...

    def wanted(self, node: MarkedNode) -> NodeMarks | None: ...


@dataclass(frozen=True, slots=True)
class RefreshedWishes:
    """`NodeWishes` of *marks*, which learn something before each round."""

    marks: Marks
    refreshing: Callable[[], Awaitable[None]]

    @property
    def keys(self) -> frozenset[str]:
        return self.marks.keys

    async def refresh(self) -> None:
        await self.refreshing()

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        return self.marks.wanted(node)


def pressure_wishes(context: BrainContext, nodes: Nodes) -> RefreshedWishes:
    pressures = NodePressures(WINDOW_S * context.settings.neighbour_minute_s / 60)

    async def refresh() -> None:
        for one in nodes.all():
            waiting = one.sums.waiting
            # What was read back from the disk is of another time.
            if not one.restored:
                sample = PressureSample(
                    one.seen_at, *map(_share, (waiting.cpu, waiting.memory, waiting.io))
                )
                pressures.see(one.name, sample)
        pressures.assess(now=context.process.clock.now())

    return RefreshedWishes(PressureMarks(pressures), refresh)


def _placement_wishes(snapshot: KeptNodesSnapshot) -> RefreshedWishes:
    marks = PlacementMarks()

    async def refresh() -> None:
        found = await snapshot.fresh()
        if found is not None:
            marks.see(dict(zip(found.names, scores(found, USUAL_POD).tolist(), strict=True)))

    return RefreshedWishes(marks, refresh)


def _is_open(seasons: BrainSeasons) -> Callable[[], bool | None]:
    def is_open() -> bool | None:
        return bool(seasons.behaviour().opens_reserve) if seasons.switching.is_settled else None

    return is_open


async def _nothing() -> None:
    return None


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


@dataclass(frozen=True, slots=True)
class NodesInCluster:
    """The `MarkableNodes`."""

    cluster: Cluster

    def now(self) -> Sequence[MarkedNode] | None:
        try:
            found = self.cluster.objects.nodes.snapshot().objects.values()
        except NotSyncedError:
            return None
        return [marked(each) for each in found if not each.metadata.deletion_timestamp]

    async def write(self, node: MarkedNode, patch: Any) -> None:
        only_if = OnlyIf(uid=node.uid, resource_version=node.version)
        try:
            await self.cluster.writer.merge_patch(
                WATCHED_NODES, "", node.name, patch, only_if=only_if
            )
        except (NotFoundError, ConflictError):
            return
        except (KubeError, OverBudgetError) as error:
            raise NotMarkedNodeError(str(error)) from error

    def notify(self, node: MarkedNode, note: str) -> None:
        where = ("v1", WATCHED_NODES.kind, "", node.name, node.uid)
        self.cluster.announcer.announce(News(*where, "NodeMark", note, "Warning"))


def marked(node: WatchedNode) -> MarkedNode:
    meta = node.metadata
    return MarkedNode(
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        taints=tuple(
            NodeTaint(one.key, one.value, one.effect, one.time_added) for one in node.spec.taints
        ),
        labels=meta.labels,
        annotations=meta.annotations,
    )
