"""Which day, and which slot of it, a moment belongs to, by the clocks of the cluster's own zone.

When clocks are set back, an hour of slots comes twice in a day; when they are set forward, one is left out. People
are busy by their clocks, and so is what they use.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass

DAY_S = 86_400.0
SLOTS = 288
"""Of five minutes, in a day of 24 hours."""
LEAST_SLOT_S = 15.0
"""What agents report is of so long each."""
SHORTEST_DAY_S = 8 * LEAST_SLOT_S

OffsetAt = Callable[[float], float]
"""How many seconds local clocks are ahead of UTC at a moment."""

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class SlotPlace:
    day: int
    """Days since the epoch, in local time."""
    slot: int


def zone_offset(zone: datetime.tzinfo) -> OffsetAt:
    def at(moment: float) -> float:
        local = (_EPOCH + datetime.timedelta(seconds=moment)).astimezone(zone)
        offset = local.utcoffset()
        return 0.0 if offset is None else offset.total_seconds()

    return at


@dataclass(frozen=True, slots=True)
class SeasonCalendar:
    """*day_s* is a day of 24 hours, or a compressed one of less, which no zone shifts."""

    offset: OffsetAt
    day_s: float = DAY_S

    @property
    def slots(self) -> int:
        """Of a day."""
        return int(min(SLOTS, max(1, self.day_s // LEAST_SLOT_S)))

    @property
    def slot_s(self) -> float:
        return self.day_s / self.slots

    @property
    def is_compressed(self) -> bool:
        return self.day_s != DAY_S

    def place(self, moment: float) -> SlotPlace:
        local = moment if self.is_compressed else moment + self.offset(moment)
        day, second = divmod(local, self.day_s)
        return SlotPlace(int(day), min(int(second / self.slot_s), self.slots - 1))

    def slots_of(self, seconds: float) -> int:
        """How many slots so long takes, in a day of 24 hours; in a compressed one as large a part of it."""
        return max(1, round(seconds / DAY_S * self.slots))

    def clock(self, slot: int) -> str:
        """When *slot* begins, in words: a time of day, or the second of a compressed one."""
        second = slot * self.slot_s
        if self.is_compressed:
            return f"second {second:.0f} of {self.day_s:.0f}"
        return f"{int(second // 3600):02}:{int(second % 3600 // 60):02}"
