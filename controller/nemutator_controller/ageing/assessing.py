"""Looks at workloads as their readings come: often in their first days, then once a day."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import get_args

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.growth import FIRM_FROM_S, PROVISIONAL_S
from nemutator_controller.ageing.model import AgeingFinding, ChangedWorkload, Verdict
from nemutator_controller.ageing.ports import AgeingNews, WindowStore, WorkloadOwners
from nemutator_controller.ageing.sentences import sentence
from nemutator_controller.ageing.trends import DAY_S
from nemutator_controller.ageing.verdicts import assess
from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)

EVERY_S = 15.0
PRUNED_EVERY_S = 600.0
MOST_UNOWNED = 500
ASSESSMENT_S = 60.0
"""How long one look may take."""

LONGER = 0.05
"""By which part more must be known than at a provisional look before there is another: one takes a processor
for up to a second, and thousands of workloads are read all the time."""

OVERLAP_S = 600.0
"""Readings may arrive so late, or bear the time of a clock that is so far behind."""


@dataclass(frozen=True, slots=True)
class AgeingAssessments:
    store: WindowStore
    findings: Findings
    owners: WorkloadOwners
    news: AgeingNews
    in_thread: Callable[[Callable[[], AgeingFinding]], Awaitable[AgeingFinding]]
    """Runs what takes a processor for long beside the event loop."""
    process: Process
    after_s: float = PROVISIONAL_S
    """How long readings must go on before there is a provisional verdict."""
    _read_at: dict[str, float] = field(default_factory=dict, init=False)
    """By the id of a workload, its newest reading that was looked at."""

    async def restore(self) -> None:
        self.findings.restore(await self.store.findings())

    async def run(self) -> None:
        clock = self.process.clock
        pruned_at = clock.monotonic()
        since = 0.0
        while True:
            began = clock.now()
            try:
                await self._find_owners()
                for changed in await self.store.changed_since(since):
                    # Those of the overlap come again and again.
                    if self._read_at.get(changed.workload.id) != changed.read_at:
                        await self._assess_unless_too_soon(changed)
                        self._read_at[changed.workload.id] = changed.read_at
                since = began - OVERLAP_S
                if clock.monotonic() - pruned_at >= PRUNED_EVERY_S:
                    pruned_at = clock.monotonic()
                    await self._prune()
            except StoreUnavailableError as failure:
                log.warning("not_looked_at", {names.REASON: failure.reason})
            self._count()
            await clock.sleep(EVERY_S)

    async def _find_owners(self) -> None:
        found = {}
        for source in await self.store.unowned(MOST_UNOWNED):
            workload = self.owners.of(source)
            if workload is not None:
                found[source.id] = workload
        if found:
            await self.store.own(found)

    async def _assess_unless_too_soon(self, changed: ChangedWorkload) -> None:
        before = self.findings.find(changed.workload.id)
        is_same = before is not None and before.image == changed.image
        if before is not None and is_same and _is_too_soon(before, now=self.process.clock.now()):
            return
        try:
            async with asyncio.timeout(ASSESSMENT_S):
                finding = await self.assessed(changed)
        except TimeoutError:
            log.warning("not_looked_at", {names.REASON: "deadline"})
            return
        if finding is not None:
            await self._take(finding)

    async def assessed(self, changed: ChangedWorkload) -> AgeingFinding | None:
        """What the readings of that workload say now; None when there is none."""
        history = await self.store.history(changed.workload)
        ids = {
            one
            for windows in history.values()
            for window in windows
            for one in (*(window.sites or ()), *(window.functions or ()))
        }
        frames = await self.store.frames(ids)
        now = self.process.clock.now()
        if not history:
            return None
        return await self.in_thread(
            lambda: assess(changed.workload, history, frames, now=now, after_s=self.after_s)
        )

    async def _take(self, finding: AgeingFinding) -> None:
        taken = self.findings.replace(finding)
        if taken.grows and not taken.told:
            note = sentence(taken)
            log.warning("workload_ages", {names.VERDICT: note})
            self.news.notify(taken, note)
            taken = self.findings.replace(replace(taken, told=True))
        await self.store.save(taken)

    async def _prune(self) -> None:
        for reason, count in (await self.store.prune()).items():
            self.process.meter.count(names.WINDOWS_DROPPED, count, reason=reason)
        known = await self.store.known()
        self.findings.keep_only(known)
        for gone in self._read_at.keys() - known:
            del self._read_at[gone]

    def _count(self) -> None:
        counts = self.findings.verdicts()
        for verdict in get_args(Verdict):
            self.process.meter.gauge(
                names.AGED_WORKLOADS, counts.get(verdict, 0), verdict=verdict.replace(" ", "_")
            )


def _is_too_soon(before: AgeingFinding, *, now: float) -> bool:
    if before.span_s >= FIRM_FROM_S:
        # More than one look a day would spend more chances of a false alarm than there are.
        return int(before.looked_at // DAY_S) == int(now // DAY_S)
    return now - before.looked_at < LONGER * before.span_s
