"""Learns from what somebody else has recorded: once of the days before this brain began, and from then on where no
agent reports.

Nothing is counted twice. Of the days before, a container is told what lies before the first point that is known of
it; later, what lies after the last one. So agents can come and go, and a brain that starts again learns nothing
anew.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.sizing.keys import ContainerKey
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


def _never(_: ContainerKey) -> float:
    return float("-inf")


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
        """Learn the days before; whatever was learned stays if it fails, and is not learned again."""
        now = self.process.clock.now()
        since = self.usages.known_since()
        if any(now - first > KNOWN_LONG_S for first in since.values()):
            return
        learned = await self._learn(
            now - self.warm_days * DAY_S, now - LATE_S, before=lambda key: since.get(key, now)
        )
        log.info("usage_warmed", {names.COUNT: learned})

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
        self, begin: float, end: float, *, before: Bound, since: Bound = _never
    ) -> int:
        learned = 0
        async for steps in self.source.steps(begin=begin, end=end):
            now = self.process.clock.now()
            found = samples_of(steps, self.keys, now=now, before=before, since=since)
            done = self.usages.learn(found.samples, now=now)
            learned += done.learned
            meter = self.process.meter
            meter.count(names.SOURCE_SAMPLES_LEARNED, done.learned)
            self._count_dropped({**found.dropped, "no_room": done.refused})
            self._count_read("answered")
            # Others need their turns.
            await self.process.clock.sleep(0)
        told = dict(self.source.dropped)
        self._count_dropped({why: n - self._counted.get(why, 0) for why, n in told.items()})
        self._counted = told
        return learned

    def _count_dropped(self, dropped: Mapping[str, int]) -> None:
        for reason, number in dropped.items():
            self.process.meter.count(names.SOURCE_SAMPLES_DROPPED, number, reason=reason)

    def _count_read(self, result: str) -> None:
        self.process.meter.count(names.SOURCE_READS, result=result)
