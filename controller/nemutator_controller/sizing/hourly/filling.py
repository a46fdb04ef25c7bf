"""Fills hours that are missing from what others have recorded, so that a new policy need not wait for a week.

Each container is looked at once a day: where too little of its last week is known, it is asked for with all others that are
new, all their namespaces at once. A source that fails is asked again after a while.
"""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.sizing.hourly.ports import RecordedHours
from nemutator_controller.sizing.hourly.stepping import CHECK_S, LATE_S, HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, HOUR_S

log = logging.getLogger(__name__)

AGAIN_S = 600.0
AT_ONCE = 500
"""Containers: of eight days 9 MB."""


@dataclass(slots=True)
class HoursFilling:
    requests: HourlyRequests
    source: RecordedHours
    process: Process
    is_ready: Callable[[], bool]
    """Whether it is known whose pods are."""
    _: KW_ONLY
    days: int
    _looked: dict[ContainerKey, int] = field(default_factory=dict, init=False)
    """The day on which each was looked at."""
    _counted: dict[str, int] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            is_answered = not self.is_ready() or await self.fill()
            await self.process.clock.sleep(CHECK_S if is_answered else AGAIN_S)

    async def fill(self) -> bool:
        """Whether nothing has failed."""
        now = self.process.clock.now()
        kept, today = self.requests.kept(), int(now // HOUR_S) // DAY_HOURS
        self._looked = {key: self._looked[key] for key in kept if key in self._looked}
        lacking: list[ContainerKey] = []
        for key in kept:
            if self._looked.get(key) == today:
                continue
            if not self.requests.lacks(key):
                self._looked[key] = today
            elif len(lacking) < AT_ONCE:
                lacking.append(key)
            await self.process.clock.sleep(0)
        if not lacking:
            return True
        end = int((now - LATE_S) // HOUR_S)
        try:
            found = await self.source.hours(lacking, begin=end - self.days * DAY_HOURS, end=end)
        except SourceUnavailableError as error:
            self.process.meter.count(names.SOURCE_READS, result="failed")
            log.warning("usage_source_failed", {names.ERROR: str(error)})
            return False
        self._looked.update(dict.fromkeys(lacking, today))
        self.requests.fill(end - self.days * DAY_HOURS, found)
        self._count_dropped()
        log.info("hourly_points_filled", {names.COUNT: len(found)})
        return True

    def _count_dropped(self) -> None:
        dropped = dict(self.source.dropped)
        for reason, number in dropped.items():
            if new := number - self._counted.get(reason, 0):
                self.process.meter.count(names.SOURCE_SAMPLES_DROPPED, new, reason=reason)
        self._counted = dropped
