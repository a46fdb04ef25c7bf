"""Nodes, put together: their reports, what they are shown as, and their history."""

import asyncio
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.wire import Batch, Envelope

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.saving import NodeSaver
from nemutator_controller.cluster.sql import SqlLatest
from nemutator_controller.cluster.topology import NO_PODS
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.ingest.consuming import ConsumedReports
from nemutator_controller.ingest.endpoint import Uplink
from nemutator_controller.ingest.gathering import GatheredReports
from nemutator_controller.ingest.learning import LearningTurns
from nemutator_controller.ingest.opening import OpeningTurns
from nemutator_controller.ingest.pointing import PointedReports
from nemutator_controller.ingest.ports import ReportStore, UsageConsumer
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.receiving import Receiver
from nemutator_controller.ingest.report_pace import ReportPace
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.series_tables import SeriesTables
from nemutator_controller.ingest.sql import SqlReports
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.keys import ByPath
from nemutator_controller.sizing.learning import NOTHING_REQUESTED, UsageLearner
from nemutator_controller.sizing.shared.learning import SharedLearning
from nemutator_controller.sizing.shared.ports import Beside
from nemutator_controller.sizing.shared.sql import SqlSharedUsages, with_points
from nemutator_controller.sizing.usages import Usages
from nemutator_controller.usage.endpoint import HistoryApi
from nemutator_controller.usage.sql import SqlHistory, record

HISTORY = RetentionTask(
    task="retention",
    every_s=60.0,
    step=1_000,
    kept=names.HISTORY_POINTS,
    dropped=names.HISTORY_DROPPED,
)


def report_pace(context: BrainContext, nodes: Nodes) -> ReportPace:
    settings = context.settings
    return ReportPace(nodes, reports_per_s=settings.reports_per_s, meter=context.process.meter)


def staleness(context: BrainContext, pace: ReportPace) -> Callable[[], float]:
    """After how many seconds of silence a node is stale now."""
    settings, clock = context.settings, context.process.clock
    return lambda: max(settings.stale_after_s, pace.missed_after_s(now=clock.now()))


def nodes_part(
    context: BrainContext,
    nodes: Nodes,
    usages: Usages,
    pace: ReportPace,
    consumers: Iterable[UsageConsumer] = (),
    *,
    watchers: Sequence[UsageConsumer] = (),
    beside: Sequence[Beside] = (),
    flows: KeptFlows,
    on_turn: Callable[[int | None], None],
) -> Part:
    """*usages* and *consumers* learn from what is stored, and *watchers* remember it for a while.

    What *consumers* know *beside* saves. *flows* are those in the reports. *on_turn* hears whether this brain learns, where
    several share a database.
    """
    settings, process = context.settings, context.process
    database, cluster = context.database, context.cluster
    saver = NodeSaver(
        nodes,
        SqlLatest(database),
        forget_after_s=settings.history_s,
        shared=context.shared,
        process=process,
    )
    history = SqlHistory(database)
    limit = RetentionLimit(seconds=settings.history_s, records=settings.history_points)
    retention = Retention(history, limit, HISTORY, process=process)
    tables = SeriesTables(most_nodes=settings.most_nodes)
    owners = SeriesOwners(
        cluster.usage_owners.of if cluster else ByPath().of,
        most_nodes=settings.most_nodes,
    )
    requested = cluster.requested_memory if cluster else NOTHING_REQUESTED
    learners = [UsageLearner(usages, owners, process, requested), *consumers]
    kept = with_points(record) if context.shared else record
    gathered = GatheredReports(SqlReports(database, kept), process)
    tasks = [
        Task(TaskPhase.SAVE, "nodes", saver.run),
        Task(TaskPhase.SAVE, "reports", gathered.run),
        Task(TaskPhase.SAVE, HISTORY.task, retention.run),
    ]
    restores = [saver.restore]
    reports: ReportStore
    if context.shared:
        # Another brain may learn from them, which does not know this node's series by number.
        reports = PointedReports(gathered, tables)
        learning = SharedLearning(
            usages,
            SqlSharedUsages(database, brain_name(settings)),
            learners,
            process,
            most=settings.sized_containers,
            in_thread=asyncio.to_thread,
            beside=beside,
            watchers=watchers,
            on_turn=on_turn,
            flows=flows,
        )
        restores.append(learning.restore)
        tasks.append(Task(TaskPhase.SAVE, "learning", learning.run))
    else:
        flowing = ReportsWithFlows(gathered, flows)
        consumed = ConsumedReports(
            flowing,
            LearningTurns([*learners, *watchers], process.clock),
            tables,
            process,
            most_nodes=settings.most_nodes,
        )
        reports = consumed

        def stored_late(batch: Batch, stored: Stored[Envelope]) -> None:
            flowing.take(batch.node, stored, now=process.clock.now())
            consumed.stored_late(batch, stored)

        gathered.late = stored_late

    async def restore() -> None:
        for one in restores:
            await one()

    topology = TopologyApi(
        nodes,
        stale_after_s=staleness(context, pace),
        pods=cluster.watch.now if cluster else lambda: NO_PODS,
        holding=cluster.watch.holding if cluster else lambda _: None,
        process=process,
    )
    receiver = Receiver(
        reports,
        nodes,
        pace,
        tables,
        OpeningTurns(process.clock),
        process,
        only_containers=cluster is not None,
    )
    return Part(
        routes=[*topology.routes(), *HistoryApi(history, process=process).routes()],
        uplink=Uplink(receiver, process.meter).routes(),
        restore=restore,
        tasks=tasks,
    )


def brain_name(settings: BrainSettings) -> str:
    """What tells this brain from the others, also from one on the same host, whose name its pod may have."""
    return f"{socket.gethostname()}:{settings.data_dir}"


@dataclass(frozen=True, slots=True)
class ReportsWithFlows:
    """A `ReportStore` around another one, which takes the flows in what was new to that one."""

    inner: ReportStore
    flows: KeptFlows

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        stored = await self.inner.store(batch, now=now)
        self.take(batch.node, stored, now=now)
        return stored

    def take(self, node: str, stored: Stored[Envelope], *, now: float) -> None:
        flows = [flow for envelope in stored.fresh for flow in envelope.report.flows]
        if flows:
            self.flows.take(node, flows, now=now)
