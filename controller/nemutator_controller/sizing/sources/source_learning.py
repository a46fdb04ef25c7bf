"""Learns from what somebody else has recorded: once of the days before this brain began, and from then on where no
agent reports.

Nothing is counted twice. Of the days before, the newest is learned first, and a container is told what lies before the first
point that is known of it; later, what lies after the last one. So agents can come and go, a brain that starts again in the midst
of those days goes on with those that are missing, and whatever came while none learned is told to the next one. Where a source fails
among those days, it is asked for the rest of them, from the day on that failed, and each container is told what lies behind
what it was told of that day.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping
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
SHORT_S = DAY_S
"""The days before have been learned where what is known of some container begins so shortly behind their beginning."""

AGAIN_S = 60.0
LATE_S = 60.0
"""Scrapes that ended so recently may not be stored yet."""

MOST_TOLD = 10
"""Warnings of a source."""

Bound = Callable[[ContainerKey], float]


class OthersTurnError(Exception):
    """Another brain learns now."""


@dataclass(slots=True)
class _DaysBefore:
    """How far the days before this brain have been learned."""

    last: float
    """Their end."""
    begin: float
    end: float
    """Of what is left of them: it moves back, a day at a time."""
    known_since: Mapping[ContainerKey, float]
    """What lies behind that is known from elsewhere."""
    told: dict[ContainerKey, float] = field(default_factory=dict)
    """Of the day that has begun, until when each container was told."""
    learned: int = 0

    def before(self, key: ContainerKey) -> float:
        return self.known_since.get(key, self.last)

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
    turn: Callable[[], int | None]
    """A number for as long as this brain learns; None while another one does. With another number, what is known has
    been replaced by what was saved."""
    _: KW_ONLY
    warm_days: int
    """Of which use is learned at first; 0: of none."""
    follows: bool
    """Whether it goes on after that."""
    step_s: float
    _until: float = field(default=0.0, init=False)
    _counted: dict[str, int] = field(default_factory=dict, init=False)
    _days_before: _DaysBefore | None = field(default=None, init=False)
    _told: set[str] = field(default_factory=set, init=False)
    """Warnings that were logged."""
    _is_warm: bool = field(default=False, init=False)
    _turn: int | None = field(init=False)

    def __post_init__(self) -> None:
        self._turn = self.turn()

    async def run(self) -> None:
        while True:
            if self.is_ready() and self._takes_turn():
                try:
                    if not self._is_warm:
                        await self.warm()
                        self._is_warm = True
                    if self.follows:
                        await self.follow()
                except SourceUnavailableError as error:
                    self._count_read("failed")
                    log.warning("usage_source_failed", {names.ERROR: str(error)})
                except OthersTurnError:
                    pass
            await self.process.clock.sleep(AGAIN_S)

    def _takes_turn(self) -> bool:
        """Whether this brain learns; where it has begun to, it begins with what is known now."""
        turn = self.turn()
        if turn != self._turn:
            self._turn, self._until, self._days_before = turn, 0.0, None
            self._is_warm = False
        return turn is not None

    async def warm(self) -> None:
        """Learn the days before; if it fails, the next call goes on with the day that failed."""
        days = self._days_before
        if days is None:
            now, since = self.process.clock.now(), self.usages.known_since()
            begin = now - self.warm_days * DAY_S
            if not self.warm_days or any(first < begin + SHORT_S for first in since.values()):
                return
            days = _DaysBefore(now - LATE_S, begin, now - LATE_S, since)
            self._days_before = days
        while days.begin < days.end:
            first = max(days.end - DAY_S, days.begin)
            days.learned += await self._learn(
                first, days.end, before=days.before, since=days.since, told=days.told
            )
            days.end = first
            days.told.clear()
        log.info("usage_warmed", {names.COUNT: days.learned})
        self._days_before = None

    async def follow(self) -> None:
        now = self.process.clock.now()
        end = (now - LATE_S) // self.step_s * self.step_s
        # What came while nobody learned, or the source failed, is asked for, too: a day at most.
        since = end - DAY_S if len(self.usages) else end - self.step_s
        begin = max(self._until or since, end - DAY_S)
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
            if self.turn() != self._turn:
                raise OthersTurnError
            now = self.process.clock.now()
            found = samples_of(steps, self.keys, now=now, before=before, since=since)
            done = self.usages.learn(found.samples, now=now)
            learned += done.learned
            if told is not None:
                told.update(_ends(found.samples))
            meter = self.process.meter
            meter.count(names.SOURCE_SAMPLES_LEARNED, done.learned)
            self._count_dropped({**found.dropped, "no_room": done.refused})
            self._count_read("warned" if steps.warnings else "answered")
            self._tell(steps.warnings)
            # Others need their turns.
            await self.process.clock.sleep(0)
        left = dict(self.source.dropped)
        self._count_dropped({why: n - self._counted.get(why, 0) for why, n in left.items()})
        self._counted = left
        return learned

    def _count_dropped(self, dropped: Mapping[str, int]) -> None:
        for reason, number in dropped.items():
            self.process.meter.count(names.SOURCE_SAMPLES_DROPPED, number, reason=reason)

    def _tell(self, warnings: Iterable[str]) -> None:
        """Each text once: a part that is missing is missing for days."""
        for one in warnings:
            if one not in self._told and len(self._told) < MOST_TOLD:
                self._told.add(one)
                log.warning("usage_source_warns", {names.ERROR: one})

    def _count_read(self, result: str) -> None:
        self.process.meter.count(names.SOURCE_READS, result=result)


def _ends(samples: UsageSamples) -> dict[ContainerKey, float]:
    """Where the last of the samples of each container ends."""
    ends = np.full(len(samples.keys), -math.inf)
    np.maximum.at(ends, samples.of, samples.to_at)
    return dict(zip(samples.keys, ends.tolist(), strict=True))
