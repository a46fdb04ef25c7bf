"""Windows of time begin on their days, and may end on the next one."""

from datetime import UTC, datetime

import msgspec
import pytest
from nemutator_controller.policies.time_windows import DAYS, When, holds


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def when(*windows: object) -> When:
    return msgspec.convert({"windows": list(windows)}, When)


NIGHT = {"from": "22:00", "to": "06:00", "days": ["Fri"]}
OFFICE = {"from": "09:00", "to": "17:30"}


@pytest.mark.parametrize(
    ("window", "moment", "within"),
    [
        (OFFICE, "2026-11-23T08:59:59", False),
        (OFFICE, "2026-11-23T09:00", True),
        (OFFICE, "2026-11-23T17:29:59", True),
        (OFFICE, "2026-11-23T17:30", False),
        # 27 November 2026 is a Friday.
        (NIGHT, "2026-11-27T05:00", False),
        (NIGHT, "2026-11-27T22:00", True),
        (NIGHT, "2026-11-28T05:59", True),
        (NIGHT, "2026-11-28T06:00", False),
        (NIGHT, "2026-11-28T22:00", False),
        ({"from": "00:00", "to": "00:00", "days": ["Sun"]}, "2026-11-29T13:00", True),
        ({"from": "00:00", "to": "00:00", "days": ["Sun"]}, "2026-11-30T00:00", False),
    ],
)
def test_a_window_has_its_days_and_its_end(window: object, moment: str, within: bool) -> None:
    assert holds(when(window), at(moment), in_season=False) is within


def test_one_window_is_enough() -> None:
    assert holds(when(OFFICE, NIGHT), at("2026-11-27T23:00"), in_season=False)
    assert not holds(when(OFFICE, NIGHT), at("2026-11-26T23:00"), in_season=False)


def test_days_are_called_as_they_are() -> None:
    for day, name in enumerate(DAYS):
        moment = at(f"2026-11-{23 + day}T12:00")
        assert [
            each for each in DAYS if holds(when(OFFICE | {"days": [each]}), moment, in_season=False)
        ] == [name]


@pytest.mark.parametrize(
    "wrong",
    [
        {"from": "24:00", "to": "01:00"},
        {"from": "9:00", "to": "10:00"},
        {"from": "09:00"},
        {"from": "09:00", "to": "10:00", "days": ["Monday"]},
        {"from": "09:00", "to": "10:00", "zone": "UTC"},
    ],
)
def test_what_is_no_window_is_refused(wrong: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        when(wrong)
