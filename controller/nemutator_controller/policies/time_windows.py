"""When a policy is followed: at these times of these days, in UTC."""

from typing import Annotated, Literal

import msgspec

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"

_DAY_S = 86_400
_MINUTES = 24 * 60
_FIRST_DAY = 3
"""The epoch began on a Thursday."""

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
TimeOfDay = Annotated[str, msgspec.Meta(pattern=TIME, max_length=5)]


class TimeWindow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    days: Annotated[tuple[Day, ...], msgspec.Meta(max_length=7)] = ()
    """Those on which it begins; empty: every day."""
    begin: TimeOfDay = msgspec.field(name="from")
    to: TimeOfDay
    """On the next day when it is not after the beginning."""


class When(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    windows: Annotated[tuple[TimeWindow, ...], msgspec.Meta(min_length=1, max_length=32)]
    """One of them is enough."""


def holds(when: When, now: float) -> bool:
    """Whether *now*, in seconds since the epoch, is within *when*."""
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
