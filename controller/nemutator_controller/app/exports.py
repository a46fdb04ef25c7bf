"""Exports, put together: which are written, from the settings, and what each is made of."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.http_accounts import wrong
from nemutator_controller.app.nodes import staleness
from nemutator_controller.app.objects import object_store
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.sizing import LeakingMemory, requests_here
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.exports.compressed_lines import CompressedLines
from nemutator_controller.exports.exporting import Exporting
from nemutator_controller.exports.ports import ExportSource
from nemutator_controller.history.exported_rows import COLUMNS, exported_rows, is_settled
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.report_pace import ReportPace
from nemutator_controller.inventory.documents import workload_item
from nemutator_controller.inventory.endpoint import shown_nodes
from nemutator_controller.inventory.taking import CountedCluster, CountedMachine, NotListedYetError
from nemutator_controller.journal.documents import listed
from nemutator_controller.journal.ports import JournalStore
from nemutator_controller.journal.records import Narrowing
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.setting_checks import words_in
from nemutator_controller.settings.profiles import EXPORTS
from nemutator_controller.sizing.all_advice import gather_advice
from nemutator_controller.sizing.usages import Usages

ROWS_AT_ONCE = 20
"""Between two turns of the loop: they are 240 lines of an hour, which take it some milliseconds."""

ITEMS_AT_ONCE = 200
"""Of a list, for one turn in a thread."""

MOST_MUTATIONS = 20_000
"""Of one hour, the last of it."""

InThread = Callable[[Callable[[], None]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ExportedParts:
    """What exports are made of."""

    nodes: Nodes
    usages: Usages
    usage: UsageHistory
    pace: ReportPace
    counted: CountedCluster | CountedMachine
    findings: Findings


def exports_part(context: BrainContext, parts: ExportedParts) -> Part:
    """Raises `OperatorError`."""
    settings, process = context.settings, context.process
    wanted = words_in(settings.exports)
    if not wanted:
        return Part()
    objects = object_store(settings, process)
    if objects is None:
        what = "files are written into a bucket, and none is named"
        raise wrong("exports", what, "set brain.objects, too, or leave brain.exports empty")
    chosen = [source for source in export_sources(context, parts) if source.name in wanted]
    exporting = Exporting(chosen, objects, settings.cluster_name, settings.exports_days, process)
    return Part(tasks=[Task(TaskPhase.WORK, "exports", exporting.run, alone=True)])


def export_sources(context: BrainContext, parts: ExportedParts) -> list[ExportSource]:
    """All of `EXPORTS`."""
    clock, counted = context.process.clock, parts.counted

    async def advice() -> Sequence[object]:
        requests = requests_here(context, parts.usages)
        growing = LeakingMemory(parts.findings)
        return (await gather_advice(parts.usages, requests, growing=growing, clock=clock)).items

    async def workloads() -> Sequence[object]:
        return [workload_item(each) for each in (await counted.now()).workloads.values()]

    async def nodes() -> Sequence[object]:
        return shown_nodes(
            await counted.now(),
            parts.nodes.all(),
            now=clock.now(),
            after_s=staleness(context, parts.pace)(),
            in_cluster=context.cluster is not None,
        )

    in_thread = asyncio.to_thread
    made: list[ExportSource] = [
        ExportedUsage(parts.usage, in_thread),
        ExportedItems("advice", advice, in_thread),
        ExportedItems("workloads", workloads, in_thread),
        ExportedItems("nodes", nodes, in_thread),
        ExportedMutations(SqlJournal(context.database), in_thread),
    ]
    assert {source.name for source in made} == EXPORTS
    return made


@dataclass(frozen=True, slots=True)
class ExportedUsage:
    """What containers used, five minutes in a line, as CSV."""

    usage: UsageHistory
    in_thread: InThread
    name: str = "usage"
    of_the_past: bool = True
    ending: str = "csv.gz"

    async def content(self, begin: float, end: float) -> bytes | None:
        usage = self.usage
        if not is_settled(usage, end):
            return None
        lines = CompressedLines()
        lines.add_rows([COLUMNS])
        for first in range(0, usage.rows.used, ROWS_AT_ONCE):
            rows = range(first, min(first + ROWS_AT_ONCE, usage.rows.used))
            found = exported_rows(usage, rows, begin=begin, end=end)
            await self.in_thread(partial(lines.add_rows, found))
        return lines.content() if lines.lines > 1 else b""


@dataclass(frozen=True, slots=True)
class ExportedItems:
    """Items of a list as it is now, each a line of JSON."""

    name: str
    items: Callable[[], Awaitable[Sequence[object]]]
    in_thread: InThread
    of_the_past: bool = False
    ending: str = "jsonl.gz"

    async def content(self, begin: float, end: float) -> bytes | None:
        try:
            items = await self.items()
        except NotListedYetError:
            return None
        return await _as_lines(items, self.in_thread)


@dataclass(frozen=True, slots=True)
class ExportedMutations:
    """What the journal has of an hour, each a line of JSON."""

    store: JournalStore
    in_thread: InThread
    name: str = "mutations"
    of_the_past: bool = True
    ending: str = "jsonl.gz"

    async def content(self, begin: float, end: float) -> bytes | None:
        entries = await self.store.entries(
            namespace=None, name=None, limit=MOST_MUTATIONS, only=Narrowing(since=begin, until=end)
        )
        return await _as_lines(listed(entries)["items"], self.in_thread)


async def _as_lines(items: Sequence[object], in_thread: InThread) -> bytes:
    lines = CompressedLines()
    for first in range(0, len(items), ITEMS_AT_ONCE):
        await in_thread(partial(lines.add_documents, items[first : first + ITEMS_AT_ONCE]))
    return lines.content() if lines.lines else b""
