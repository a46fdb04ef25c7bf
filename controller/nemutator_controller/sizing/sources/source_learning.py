"""Learns from what somebody else has recorded: once of the days before this brain began, and from then on where no
agent reports.

Nothing is counted twice. Of the days before, a container is told what lies before the first point that was known of
it when that began; later, what lies after the last one. So agents can come and go, and a brain that starts again learns
nothing anew. Where a source fails among those days, it is asked for the rest of them, from the day on that failed, and
each container is told what lies behind what it was told of that day.
"""

import logging
import math
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.samples import UsageSamples
from nemutator_controller.sizing.sources.ports import PodKeys, UsageSource
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError
from nemutator_controller.sizing.sources.source_samples import samples_of
from nemutator_controller.sizing.usages import Usages

log = logging.getLogger(__name__)

DAY_S = 86_400.0
KNOWN_LONG_S = DAY_S
"""A brain that knows a container for so long is not new: it does not ask for the days before."""

AGAIN_S = 60.0
LATE_S = 60.0
"""Scrapes that ended so recently may not be stored yet."""

Bound = Callable[[ContainerKey], float]


@dataclass(slots=True)
class _DaysBefore:
    """How far the days before this brain have been learned."""

    end: float
    begin: float
    """It moves on, a day at a time."""
    known_since: Mapping[ContainerKey, float]
    """What lies behind that is known from elsewhere."""
    told: dict[ContainerKey, float] = field(default_factory=dict)
    """Of the day that has begun, until when each container was told."""
    learned: int = 0

    def before(self, key: ContainerKey) -> float:
        return self.known_since.get(key, self.end)

    def since(self, key: ContainerKey) -> float:
        return self.told.get(key, -math.inf)


@dataclass(slots=True)
class SourceLearning:
    source: UsageSource
    keys: PodKeys
    usages: Usages
    process: Process
    is_ready: Callable[[], bool]
    """Whether it is known whose pods are."""
    _: KW_ONLY
    warm_days: int
    """Of which use is learned at first; 0: of none."""
    follows: bool
    """Whether it goes on after that."""
    step_s: float
    _until: float = field(default=0.0, init=False)
    _counted: dict[str, int] = field(default_factory=dict, init=False)
    _days_before: _DaysBefore | None = field(default=None, init=False)

    async def run(self) -> None:
        clock = self.process.clock
        is_warm = self.warm_days == 0
        while True:
            if self.is_ready():
                try:
                    if not is_warm:
                        await self.warm()
                        is_warm = True
                    if self.follows:
                        await self.follow()
                except SourceUnavailableError as error:
                    self._count_read("failed")
                    log.warning("usage_source_failed", {names.ERROR: str(error)})
            await clock.sleep(AGAIN_S)

    async def warm(self) -> None:
        """Learn the days before; if it fails, the next call goes on with the day that failed."""
        days = self._days_before
        if days is None:
            now, since = self.process.clock.now(), self.usages.known_since()
            if any(now - first > KNOWN_LONG_S for first in since.values()):
                return
            days = _DaysBefore(now - LATE_S, now - self.warm_days * DAY_S, since)
            self._days_before = days
        while days.begin < days.end:
            until = min(days.begin + DAY_S, days.end)
            days.learned += await self._learn(
                days.begin, until, before=days.before, since=days.since, told=days.told
            )
            days.begin = until
            days.told.clear()
        log.info("usage_warmed", {names.COUNT: days.learned})
        # What came while the source failed comes next.
        self._until = days.end // self.step_s * self.step_s
        self._days_before = None

    async def follow(self) -> None:
        now = self.process.clock.now()
        end = (now - LATE_S) // self.step_s * self.step_s
        # After a time in which it could not be asked, a day is asked for at most.
        begin = max(self._until or end - self.step_s, end - DAY_S)
        if end <= begin:
            return
        await self._learn(begin, end, before=lambda _: now, since=self._last_at)
        self._until = end

    def _last_at(self, key: ContainerKey) -> float:
        """A hair before: the grid of steps is not that of the last step to the bit."""
        return self.usages.last_at(key) - 1.0

    async def _learn(
        self,
        begin: float,
        end: float,
        *,
        before: Bound,
        since: Bound,
        told: MutableMapping[ContainerKey, float] | None = None,
    ) -> int:
        learned = 0
        async for steps in self.source.steps(begin=begin, end=end):
            now = self.process.clock.now()
            found = samples_of(steps, self.keys, now=now, before=before, since=since)
            done = self.usages.learn(found.samples, now=now)
            learned += done.learned
            if told is not None:
                told.update(_ends(found.samples))
            meter = self.process.meter
            meter.count(names.SOURCE_SAMPLES_LEARNED, done.learned)
            self._count_dropped({**found.dropped, "no_room": done.refused})
            self._count_read("answered")
            # Others need their turns.
            await self.process.clock.sleep(0)
        left = dict(self.source.dropped)
        self._count_dropped({why: n - self._counted.get(why, 0) for why, n in left.items()})
        self._counted = left
        return learned

    def _count_dropped(self, dropped: Mapping[str, int]) -> None:
        for reason, number in dropped.items():
            self.process.meter.count(names.SOURCE_SAMPLES_DROPPED, number, reason=reason)

    def _count_read(self, result: str) -> None:
        self.process.meter.count(names.SOURCE_READS, result=result)


def _ends(samples: UsageSamples) -> dict[ContainerKey, float]:
    """Where the last of the samples of each container ends."""
    ends = np.full(len(samples.keys), -math.inf)
    np.maximum.at(ends, samples.of, samples.to_at)
    return dict(zip(samples.keys, ends.tolist(), strict=True))
