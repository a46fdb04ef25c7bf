import pytest
from nemutator_controller.rolling.day_windows import DayWindowError, day_window

HOUR = 3600.0
MIDNIGHT = 20_000 * 86_400.0


def holds(text: str, hour: float) -> bool:
    window = day_window(text)
    assert window is not None
    return window.holds(MIDNIGHT + hour * HOUR)


def test_a_window_may_go_over_midnight() -> None:
    assert [holds("22:00-05:30", hour) for hour in (21.9, 22, 23.9, 0, 5.4, 5.5)] == [
        False, True, True, True, True, False,
    ]  # fmt: skip
    assert [holds("09:00-17:00", hour) for hour in (8.9, 9, 16.9, 17)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_no_window_is_any_time() -> None:
    assert day_window("") is None


@pytest.mark.parametrize(
    "text", ["22:00", "24:00-05:00", "1:00-2:00", "05:00-05:00", "a", "22:00-05:00 "]
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(DayWindowError):
        day_window(text)
