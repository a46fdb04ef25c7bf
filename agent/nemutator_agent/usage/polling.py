"""Takes a snapshot of the machine every few seconds, and makes a report of those that are wanted."""

import logging
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Missing, Report, Summary
from nemutator_common.wire_activity import Flow

from nemutator_agent.inspection.executables import Executables
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.reports import report_of
from nemutator_agent.usage.sandboxes import without_sandboxes
from nemutator_agent.usage.snapshot import MachineFacts, MachineSnapshot
from nemutator_agent.usage.summaries import Summaries

log = logging.getLogger(__name__)

PART = "usage"
"""The name of this part in /readyz."""

MOST_SUMMARIES = 4_000
"""The most summaries that wait for a report: a brain takes 20 000, and a snapshot adds one for each
group."""


class MachineReader(Protocol):
    """The machine as its kernel shows it. Both raise MalformedError when they can read nothing."""

    def facts(self) -> MachineFacts: ...

    def snapshot(self, *, at: float, monotonic: float) -> MachineSnapshot:
        """Take a snapshot in some milliseconds; /proc is memory, so no device is waited for."""
        ...


class ReportSink(Protocol):
    """Takes reports, without a wait."""

    @property
    def report_every_s(self) -> float:
        """Seconds between two wanted reports, where that is longer than between two snapshots."""
        ...

    def put(self, report: Report) -> None: ...


class FlowSource(Protocol):
    """What was found of the peers of pods since the last time."""

    def taken(self) -> tuple[Flow, ...]: ...

    def missing(self) -> tuple[Missing, ...]: ...


class KnownGaps(Protocol):
    def missing(self) -> tuple[Missing, ...]: ...


@dataclass(eq=False, slots=True)
class UsagePoller:
    reader: MachineReader
    executables: Executables
    reports: ReportSink
    process: Process
    _: KW_ONLY
    interval_s: float
    summary_s: float = 15.0
    flows: FlowSource | None = None
    queues: KnownGaps | None = None
    _facts: MachineFacts | None = field(default=None, init=False)
    _reported: MachineSnapshot | None = field(default=None, init=False)
    _summaries: list[Summary] = field(default_factory=list, init=False)
    _summing: Summaries = field(init=False)
    latest: tuple[MachineSnapshot, MachineFacts] | None = field(default=None, init=False)
    """The snapshot before the next one; None until there is one."""

    def __post_init__(self) -> None:
        self._summing = Summaries(every_s=self.summary_s)
        self.process.readiness.fail(PART, "no snapshot of this machine yet")

    async def run(self) -> None:
        """Take a snapshot at once, then on a fixed beat. A missed beat is left out."""
        due = self.process.clock.monotonic()
        while True:
            self._sample()
            now = self.process.clock.monotonic()
            missed = max(0, int((now - due) / self.interval_s))
            due += (missed + 1) * self.interval_s
            await self.process.clock.sleep(due - now)

    def _sample(self) -> None:
        begun = self.process.clock.monotonic()
        try:
            # Read once: when the clock is set, the kernel moves the time of boot, and with it the
            # start of every process, which is half of its identity.
            self._facts = self._facts or self.reader.facts()
            snapshot = self.reader.snapshot(at=self.process.clock.now(), monotonic=begun)
        except MalformedError as error:
            self.process.meter.count(names.USAGE_SNAPSHOTS, result="failed")
            self.process.readiness.fail(PART, str(error))
            log.warning("snapshot_failed", {names.ERROR: error})
            return
        self.latest = snapshot, self._facts
        self.executables.follow(
            {process: counters.command for process, counters in snapshot.processes.items()}
        )
        snapshot = without_sandboxes(snapshot)
        self._summaries += self._summing.add(snapshot, ticks_per_s=self._facts.ticks_per_s)
        if self._due(snapshot):
            self._report(snapshot, self._facts)
        self.process.readiness.pass_(PART)
        self.process.meter.count(names.USAGE_SNAPSHOTS, result="done")
        self.process.meter.observe(
            names.USAGE_SNAPSHOT_SECONDS, self.process.clock.monotonic() - begun
        )

    def _due(self, snapshot: MachineSnapshot) -> bool:
        if self._reported is None or len(self._summaries) >= MOST_SUMMARIES:
            return True
        # On the nearest beat, because snapshots come a little early or late.
        early_s = self.interval_s / 2
        return (
            snapshot.monotonic - self._reported.monotonic >= self.reports.report_every_s - early_s
        )

    def _report(self, snapshot: MachineSnapshot, facts: MachineFacts) -> None:
        report = report_of(
            self._reported,
            snapshot,
            facts=facts,
            runtimes=self.executables.runtimes,
            denied=self.executables.denied,
        )
        if self.flows is not None:
            report = replace(
                report,
                flows=self.flows.taken(),
                missing=(*report.missing, *self.flows.missing()),
            )
        if self.queues is not None:
            report = replace(report, missing=(*report.missing, *self.queues.missing()))
        self.reports.put(replace(report, summaries=tuple(self._summaries)))
        self._reported = snapshot
        self._summaries.clear()
