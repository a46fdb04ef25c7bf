"""Looks at the machine every few seconds, and reports each snapshot, or as many as are wanted."""

import logging
from dataclasses import replace
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.readiness import Readiness
from nemutator_common.wire import Report, Summary

from nemutator_agent.inspection.executables import Executables
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.reports import report_of
from nemutator_agent.usage.snapshot import MachineFacts, Snapshot
from nemutator_agent.usage.summaries import Summaries

log = logging.getLogger(__name__)

PART = "usage"
"""Its name in /readyz."""

MOST_SUMMARIES = 4_000
"""That wait for a report: a brain takes 20 000 in one, and one look adds as many as there are groups."""


class SnapshotSource(Protocol):
    """The machine as its kernel shows it. Both raise MalformedError when it shows nothing."""

    def facts(self) -> MachineFacts: ...

    def snapshot(self, *, at: float, monotonic: float) -> Snapshot:
        """Takes milliseconds and waits for no device: /proc is memory."""
        ...


class ReportSink(Protocol):
    """Who wants to know; never makes the sampler wait."""

    @property
    def report_every_s(self) -> float:
        """Seconds between two reports that are wanted, if those between looks are fewer."""
        ...

    def put(self, report: Report) -> None: ...


class UsagePoller:
    def __init__(
        self,
        reader: SnapshotSource,
        executables: Executables,
        reports: ReportSink,
        *,
        interval_s: float,
        summary_s: float = 15.0,
        clock: Clock,
        meter: Meter,
        readiness: Readiness,
    ) -> None:
        self._reader = reader
        self._executables = executables
        self._reports = reports
        self._interval_s = interval_s
        self._clock = clock
        self._meter = meter
        self._readiness = readiness
        self._facts: MachineFacts | None = None
        self._reported: Snapshot | None = None
        self._summaries: list[Summary] = []
        self._summing = Summaries(every_s=summary_s)
        readiness.fail(PART, "no look at this machine yet")

    async def run(self) -> None:
        """Snapshot at once, then on a fixed beat; a beat that was missed is left out, not caught up."""
        due = self._clock.monotonic()
        while True:
            self._sample()
            now = self._clock.monotonic()
            missed = max(0, int((now - due) / self._interval_s))
            due += (missed + 1) * self._interval_s
            await self._clock.sleep(due - now)

    def _sample(self) -> None:
        begun = self._clock.monotonic()
        try:
            # Once: when the clock is set, the kernel moves the time of boot, and with it the start
            # of every process, which is half of its identity.
            self._facts = self._facts or self._reader.facts()
            snapshot = self._reader.snapshot(at=self._clock.now(), monotonic=begun)
        except MalformedError as error:
            self._meter.count(names.USAGE_SNAPSHOTS, result="failed")
            self._readiness.fail(PART, str(error))
            log.warning("snapshot_failed", {names.ERROR: error})
            return
        self._executables.follow(
            {process: counters.command for process, counters in snapshot.processes.items()}
        )
        self._summaries += self._summing.add(snapshot, ticks_per_s=self._facts.ticks_per_s)
        if self._due(snapshot):
            self._report(snapshot, self._facts)
        self._readiness.pass_(PART)
        self._meter.count(names.USAGE_SNAPSHOTS, result="done")
        self._meter.observe(names.USAGE_SNAPSHOT_SECONDS, self._clock.monotonic() - begun)

    def _due(self, snapshot: Snapshot) -> bool:
        if self._reported is None or len(self._summaries) >= MOST_SUMMARIES:
            return True
        # On the beat that is nearest: looks come a little early or late.
        early_s = self._interval_s / 2
        return (
            snapshot.monotonic - self._reported.monotonic >= self._reports.report_every_s - early_s
        )

    def _report(self, snapshot: Snapshot, facts: MachineFacts) -> None:
        report = report_of(
            self._reported,
            snapshot,
            facts=facts,
            verdicts=self._executables.verdicts,
            denied=self._executables.denied,
        )
        self._reports.put(replace(report, summaries=tuple(self._summaries)))
        self._reported = snapshot
        self._summaries.clear()
