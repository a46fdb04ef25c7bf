"""When a policy is followed: at these times of these days, in UTC, and in these seasons.

Which policies' seasons it is now, others know (`seasons/`): here they are a set of names.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"

_DAY_S = 86_400
_MINUTES = 24 * 60
_FIRST_DAY = 3
"""The epoch began on a Thursday."""

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
SeasonWord = Literal["off-peak", "pre-peak", "peak", "surprise", "flat", "unknown"]
NameWord = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
TimeOfDay = Annotated[str, msgspec.Meta(pattern=TIME, max_length=5)]


class TimeWindow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    days: Annotated[tuple[Day, ...], msgspec.Meta(max_length=7)] = ()
    """Those on which it begins; empty: every day."""
    begin: TimeOfDay = msgspec.field(name="from")
    to: TimeOfDay
    """On the next day when it is not after the beginning."""


class SeasonOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The workload whose season counts."""

    namespace: NameWord
    kind: NameWord
    name: NameWord


class When(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    windows: Annotated[tuple[TimeWindow, ...], msgspec.Meta(max_length=32)] = ()
    """One of them is enough; empty: at any time."""
    season: Annotated[tuple[SeasonWord, ...], msgspec.Meta(max_length=6)] = ()
    """One of them is enough; empty: in any season."""
    of: SeasonOf | None = None
    """Absent: the season of the cluster."""


def when_faults(when: When | None) -> Iterator[str]:
    if when is None:
        return
    if not when.windows and not when.season:
        yield ": name at least one of windows and season"
    if when.of is not None and not when.season:
        yield ".of: a workload's season counts only where season names some"


def holds(when: When, now: float, *, in_season: bool) -> bool:
    """Whether *now*, in seconds since the epoch, is within *when*; *in_season*: whether its season is."""
    if when.season and not in_season:
        return False
    if not when.windows:
        return True
    day, second = divmod(int(now), _DAY_S)
    return any(_is_within(window, day + _FIRST_DAY, second // 60) for window in when.windows)


def _is_within(window: TimeWindow, day: int, minute: int) -> bool:
    begin, end = _minutes(window.begin), _minutes(window.to)
    if end <= begin:
        end += _MINUTES
    # It may have begun today, or yesterday.
    return any(
        begin <= since < end and (not window.days or DAYS[began % 7] in window.days)
        for began, since in ((day, minute), (day - 1, minute + _MINUTES))
    )


def _minutes(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])
