"""Oversell, put together, with what it asks of the cluster, of reports and of seasons."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.app.leadership import by_the_leader
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.placement import worst_cores
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.model import ClusterFigures, ContainerName, UseLevels
from nemutator_controller.inventory.ports import KnownLevels
from nemutator_controller.inventory.taking import CountedCluster, NotListedYetError
from nemutator_controller.journal.live_objects import (
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.ports import Objects
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.node_objects import WatchedNode
from nemutator_controller.kube.resources import WATCHED_NODES
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import value_at
from nemutator_controller.oversell.endpoint import OversellApi
from nemutator_controller.oversell.keeping import KIND, PATH, OversellKeeping
from nemutator_controller.oversell.model import oversell_of
from nemutator_controller.oversell.objects import NODE_OVERSELLS
from nemutator_controller.oversell.observed_nodes import (
    CeilingUnknownError,
    NodeRefusedError,
    ObservedNode,
)
from nemutator_controller.oversell.ratios import cpu_millis, cpu_text, parse_ratio, ratio_text
from nemutator_controller.oversell.telling import OversellStatuses
from nemutator_controller.policies.spec_watching import SpecCheck, WatchedSpecs, by_name, itself

AT_ONCE = 200
"""Nodes that are read in one turn of the loop."""

SPARED = 100.0
"""Where what was counted may be old, it is so many times as old as it took to count: of a small cluster it is never old."""

OVERSELLS = SpecCheck(oversell_of, itself, 100, "NodeOversells: merge some")


def oversell_part(
    context: BrainContext,
    nodes: Nodes,
    counted: CountedCluster | None,
    levels: KnownLevels,
    seasons: BrainSeasons,
) -> Part:
    cluster, process = context.cluster, context.process
    if cluster is None or counted is None:
        return Part(routes=OversellApi(None).routes())
    informer = Informer(
        NODE_OVERSELLS, transport=cluster.reader.transport, process=process, may_be_absent=True
    )
    policies = WatchedSpecs(informer, by_name, OVERSELLS)
    keeping = OversellKeeping(
        NodesToOversell(cluster, nodes, counted, levels, process.clock),
        policies,
        CeilingOfSeasons(seasons),
        BrainJournal(SqlJournal(context.database)),
        process,
        most=context.settings.oversell_nodes,
        fresh=lambda: uuid.uuid4().hex,
        minute_s=context.settings.neighbour_minute_s,
    )
    statuses = OversellStatuses(
        informer,
        cluster.writer,
        lambda: keeping.verdicts if keeping.at else None,
        policies.faulty,
        process,
    )
    return Part(
        routes=by_the_leader(OversellApi(keeping).routes(), cluster.leadership, reading=True),
        tasks=[
            Task(TaskPhase.WATCH, "watch node oversells", informer.run),
            Task(TaskPhase.WORK, "oversell nodes", keeping.run, alone=True),
            Task(TaskPhase.WORK, "node oversells' statuses", statuses.run, alone=True),
        ],
    )


@dataclass(frozen=True, slots=True)
class CeilingOfSeasons:
    """The `SeasonCeiling`."""

    seasons: BrainSeasons

    def ceiling(self) -> int | None:
        if not self.seasons.switching.is_settled:
            raise CeilingUnknownError("which SeasonPolicies are in force is not known yet")
        said = self.seasons.behaviour().oversell
        return None if said is None else said.cpu_percent


@dataclass(frozen=True, slots=True)
class _Counted:
    """Of pods, by node."""

    at: float
    took_s: float
    requested_millis: Mapping[str, int]
    busy_cores: Mapping[str, float]


@dataclass(slots=True)
class NodesToOversell:
    """The `ObservedNodes`."""

    cluster: Cluster
    reported: Nodes
    counted: CountedCluster
    levels: KnownLevels
    clock: Clock
    _kept: _Counted | None = field(default=None, init=False)

    async def now(self, *, counted_within_s: float) -> Sequence[ObservedNode] | None:
        try:
            pods = await self._counted(counted_within_s)
            found = self.cluster.objects.nodes.snapshot().objects.values()
        except (NotListedYetError, NotSyncedError):
            return None
        nodes: list[ObservedNode] = []
        for number, each in enumerate(found, 1):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            name = each.metadata.name
            if each.metadata.deletion_timestamp:
                continue
            node = observed(each)
            for report in self.reported.named(name):
                # What was read back from the disk is of another time.
                if not report.restored:
                    node = replace(
                        node,
                        used_millis=_millis(report.sums.cpu_cores),
                        waiting=None
                        if report.sums.waiting.cpu is None
                        else report.sums.waiting.cpu / 100,
                        reported_at=report.seen_at,
                    )
            nodes.append(
                replace(
                    node,
                    requested_millis=pods.requested_millis.get(name, 0),
                    usual_millis=_millis(pods.busy_cores.get(name)),
                )
            )
        return nodes

    async def _counted(self, within_s: float) -> _Counted:
        kept, now = self._kept, self.clock.monotonic()
        if kept is None or now - kept.at >= min(within_s, SPARED * kept.took_s):
            figures = await self.counted.now()
            # In a thread: it goes through all pods.
            busy = await asyncio.to_thread(busy_cores, figures, await self.levels.now())
            requested = {name: one.tally.requests.cpu_millis for name, one in figures.nodes.items()}
            kept = self._kept = _Counted(now, self.clock.monotonic() - now, requested, busy)
        return kept

    async def write(self, node: ObservedNode, ratio: int | None) -> bool:
        return await write_ratio(self.cluster, node, ratio)

    def notify(self, node: ObservedNode, note: str) -> None:
        where = ("v1", WATCHED_NODES.kind, "", node.name, node.uid)
        self.cluster.announcer.announce(News(*where, "NodeOversell", note, "Warning"))


async def write_ratio(cluster: Cluster, node: ObservedNode, ratio: int | None) -> bool:
    """Whether the node is still there; raises `NodeRefusedError`."""
    annotations: dict[str, str | None] = {
        str(names.OVERSELL_RATIO): None if ratio is None else ratio_text(ratio)
    }
    patch: dict[str, Any] = {"metadata": {"annotations": annotations}}
    if ratio is None:
        annotations[str(names.RAW_CPU)] = None
        if (raw := node.kept_raw) is not None:
            # At once, and not when kubelet writes the next time.
            patch["status"] = {"allocatable": {"cpu": cpu_text(raw)}}
    try:
        # The webhook sees a write of the status, and so makes at once of it what the ratio says.
        await cluster.writer.merge_patch(
            WATCHED_NODES, "", node.name, patch, only_if=OnlyIf(uid=node.uid), subresource="status"
        )
    except NotFoundError:
        return False
    except (KubeError, OverBudgetError) as error:
        raise NodeRefusedError(str(error)) from error
    return True


def observed(node: WatchedNode) -> ObservedNode:
    meta, status = node.metadata, node.status
    return ObservedNode(
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        labels=meta.labels,
        annotations=meta.annotations,
        capacity_millis=cpu_millis(status.capacity.get("cpu")),
        allocatable_millis=cpu_millis(status.allocatable.get("cpu")),
    )


def busy_cores(
    figures: ClusterFigures, levels: Mapping[ContainerName, UseLevels]
) -> dict[str, float]:
    """By node, what those of its pods use together when each is busy of which that is known."""
    worst, found = worst_cores(figures, levels), dict[str, float]()
    for key, cores in worst.items():
        for pod in figures.workloads[key].pods.pods:
            node = pod.spec.node_name
            found[node] = found.get(node, 0.0) + cores
    return found


def _millis(cores: float | None) -> int | None:
    return None if cores is None or not 0 <= cores < 1e6 else round(1_000 * cores)


@dataclass(frozen=True, slots=True)
class ObjectsAndRatios:
    """`Objects`, where a node is what of oversell stands on it: so a ratio is taken back like a mutation."""

    objects: Objects
    cluster: Cluster | None

    @property
    def running(self) -> bool:
        return self.objects.running

    async def get(self, subject: Subject) -> LiveObject | None:
        if subject.kind != KIND or self.cluster is None:
            return await self.objects.get(subject)
        try:
            found = self.cluster.objects.nodes.snapshot().get("", subject.name)
        except NotSyncedError as error:
            raise UnreachableError("the cluster's nodes are not listed yet") from error
        if found is None or (subject.uid and found.metadata.uid != subject.uid):
            return None
        text = found.metadata.annotations.get(names.OVERSELL_RATIO)
        annotations = {} if text is None else {str(names.OVERSELL_RATIO): text}
        document: Mapping[str, Any] = {
            "apiVersion": "v1",
            "kind": KIND,
            "metadata": {"name": subject.name, "annotations": annotations},
        }
        return LiveObject(
            subject=replace(subject, uid=found.metadata.uid),
            document=document,
            version=text or "",
        )

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        return await self.objects.find(subject, decision)

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        subject, cluster = live.subject, self.cluster
        if subject.kind != KIND or cluster is None:
            return await self.objects.write(live, edits, resize=resize)
        after = apply_edits(live.document, [one for one in edits if one.path == PATH], KIND)
        wanted = value_at(after, parse_path(PATH), KIND)
        ratio = parse_ratio(wanted[0]) if wanted else None
        if wanted and ratio is None:
            raise ObjectRefusedError("what stood there before is no ratio: set it by hand")
        found = cluster.objects.nodes.snapshot().get("", subject.name)
        if found is None:
            raise ObjectRefusedError("the node is gone")
        try:
            await write_ratio(cluster, observed(found), ratio)
        except NodeRefusedError as error:
            raise ObjectRefusedError(str(error)) from error
        return live

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        if live.subject.kind != KIND:
            await self.objects.rehearse(live, edits, resize=resize)

    async def evict(self, live: LiveObject) -> None:
        await self.objects.evict(live)
