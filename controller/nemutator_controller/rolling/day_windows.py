"""A time of day in which something may be done, in UTC: `22:00-05:00`."""

import re
from dataclasses import dataclass

_DAY_S = 86_400
_TEXT = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")


class DayWindowError(ValueError):
    """The text is no time of day."""


@dataclass(frozen=True, slots=True)
class DayWindow:
    start_s: int
    end_s: int
    """Seconds since midnight. An end before the start is on the next day."""

    def holds(self, at: float) -> bool:
        """Whether the moment *at*, in seconds since 1970, is in it."""
        of_day = at % _DAY_S
        if self.start_s <= self.end_s:
            return self.start_s <= of_day < self.end_s
        return of_day >= self.start_s or of_day < self.end_s


def day_window(text: str) -> DayWindow | None:
    """None for an empty *text*: at any time. Raises `DayWindowError`."""
    if not text:
        return None
    found = _TEXT.fullmatch(text)
    if found is None or text[:5] == text[6:]:
        raise DayWindowError("window: expected HH:MM-HH:MM, in UTC, like 22:00-05:00")
    hour, minute, end_hour, end_minute = map(int, found.groups())
    return DayWindow(hour * 3600 + minute * 60, end_hour * 3600 + end_minute * 60)
