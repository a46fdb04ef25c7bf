"""Nodes, put together: their reports, what they are shown as, and their history."""

from nemutator_common import names

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.cluster.endpoint import TopologyApi
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.saving import NodeSaver
from nemutator_controller.cluster.sql import SqlLatest
from nemutator_controller.cluster.topology import NO_PODS
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.ingest.endpoint import Uplink
from nemutator_controller.ingest.receiving import Receiver
from nemutator_controller.ingest.report_pace import ReportPace
from nemutator_controller.ingest.sql import SqlReports
from nemutator_controller.sizing.keys import ByPath
from nemutator_controller.sizing.learning_store import LearningStore
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


def nodes_part(context: BrainContext, nodes: Nodes, usages: Usages) -> Part:
    """*usages* learn from what is stored."""
    settings, process = context.settings, context.process
    database, cluster = context.database, context.cluster
    saver = NodeSaver(
        nodes, SqlLatest(database), forget_after_s=settings.history_s, process=process
    )
    history = SqlHistory(database)
    limit = RetentionLimit(seconds=settings.history_s, records=settings.history_points)
    retention = Retention(history, limit, HISTORY, process=process)
    owners = cluster.usage_owners if cluster else ByPath()
    reports = LearningStore(SqlReports(database, record), usages, owners, process=process)
    pace = ReportPace(nodes, reports_per_s=settings.reports_per_s, meter=process.meter)

    def stale_after_s() -> float:
        return max(settings.stale_after_s, pace.missed_after_s(now=process.clock.now()))

    topology = TopologyApi(
        nodes,
        stale_after_s=stale_after_s,
        pods=cluster.watch if cluster else NO_PODS,
        process=process,
    )
    receiver = Receiver(reports, nodes, pace, process)
    return Part(
        routes=[*topology.routes(), *HistoryApi(history, process=process).routes()],
        uplink=Uplink(receiver, process.meter).routes(),
        restore=saver.restore,
        tasks=[
            Task(TaskPhase.SAVE, "nodes", saver.run),
            Task(TaskPhase.SAVE, HISTORY.task, retention.run),
        ],
    )
