import numpy as np
from nemutator_controller.daily_changes import MOST_WITH_RISES
from nemutator_controller.sizing.strategies import hourly_cpu, hourly_given
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse

HOURS = 24 * 9


def use(hours: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> RecordedUse:
    return RecordedUse("web", 1800, np.repeat(hours, 2)[np.newaxis])


def test_what_changes_seldom_is_the_strategy_s_in_whole_thousandths() -> None:
    steady = use(np.full(HOURS, 2.0))
    given, wanted = hourly_given.cpu(steady), hourly_cpu.cpu(steady)
    assert np.isnan(given[0])
    assert (given[1:] >= wanted[1:] - 1e-9).all()
    assert (given[1:] < wanted[1:] + 0.001).all()
    np.testing.assert_array_equal(given[1:], np.round(given[1:], 3))


def test_what_changes_often_waits() -> None:
    busy = np.where(np.arange(HOURS) // 3 % 2, 8.0, 1.0)
    given, wanted = (each.cpu(use(busy)) for each in (hourly_given, hourly_cpu))
    moved = np.diff(given[1:]) != 0
    assert max(int(moved[at : at + 24].sum()) for at in range(len(moved))) <= MOST_WITH_RISES
    assert np.count_nonzero(moved) < np.count_nonzero(np.diff(wanted[1:]))


def test_who_was_never_seen_gets_no_request() -> None:
    assert np.isnan(hourly_given.cpu(use(np.full(30, np.nan)))).all()
