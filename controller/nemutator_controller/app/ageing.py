"""Ageing, put together: readings of quiet windows, verdicts on workloads, and who is told."""

import asyncio

from nemutator_controller.ageing.assessing import AgeingAssessments
from nemutator_controller.ageing.endpoint import AgeingApi
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.marking import AgeingMarks
from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.owners import ByGroup
from nemutator_controller.ageing.sql import SqlWindows, WindowLimits
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream, Task, TaskPhase


class NoPodsToTell:
    """Off clusters the log, the page and the command line tell. An `AgeingNews`."""

    def notify(self, finding: AgeingFinding, note: str) -> None:
        return None


def ageing_part(context: BrainContext, findings: Findings) -> Part:
    settings, cluster = context.settings, context.cluster
    limits = WindowLimits(seconds=settings.windows_s, bytes=settings.window_bytes)
    store = SqlWindows(context.database, limits, process=context.process)
    assessments = AgeingAssessments(
        store,
        findings,
        cluster.window_owners if cluster else ByGroup(),
        cluster.ageing_news if cluster else NoPodsToTell(),
        in_thread=asyncio.to_thread,
        process=context.process,
        after_s=settings.ageing_after_s,
    )
    tasks = [Task(TaskPhase.WORK, "ageing", assessments.run)]
    if cluster:
        marks = AgeingMarks(findings, cluster.ageing_marks, context.process)
        tasks.append(Task(TaskPhase.WORK, "mark what ages", marks.run, alone=True))
    return Part(
        routes=AgeingApi(findings, store, context.process.clock).routes(),
        streams={"windows": StoredStream("agent", store.record)},
        restore=assessments.restore,
        tasks=tasks,
    )
