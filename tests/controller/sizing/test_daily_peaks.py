import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.daily_peaks import DAY_S, PEAK_DAYS, DailyPeaks, needed_after_kill

NOW = 19_000 * DAY_S
ROW = np.array([0], dtype=np.intp)


def noted(*samples: tuple[int, float]) -> DailyPeaks:
    """Of the day and the use of each sample."""
    peaks = DailyPeaks(1)
    for day, used in samples:
        peaks.note(ROW, np.array([NOW + day * DAY_S]), np.array([used]))
    return peaks


def test_the_newest_day_weighs_as_much_as_all_before_it() -> None:
    peaks = noted((0, 500.0), (1, 300.0), (2, 100.0))
    now = NOW + 2 * DAY_S
    assert peaks.percentile(0.5, ROW, now=now, days=PEAK_DAYS).tolist() == [100.0]
    assert peaks.percentile(0.8, ROW, now=now, days=PEAK_DAYS).tolist() == [300.0]
    assert peaks.percentile(1.0, ROW, now=now, days=PEAK_DAYS).tolist() == [500.0]


def test_only_the_days_of_the_window_count() -> None:
    peaks, now = noted((0, 500.0), (3, 100.0)), NOW + 3 * DAY_S
    assert peaks.most(ROW, now=now, days=4)[0].tolist() == [500.0]
    assert peaks.most(ROW, now=now, days=3)[0].tolist() == [100.0]
    assert peaks.percentile(0.95, ROW, now=now, days=3).tolist() == [100.0]


def test_what_was_needed_leaves_with_its_day() -> None:
    peaks = noted((0, 500.0))
    peaks.note_kills(ROW, np.array([NOW]), np.array([400.0]))
    assert peaks.most(ROW, now=NOW, days=PEAK_DAYS)[1].tolist() == [
        needed_after_kill(np.array([500.0]))[0]
    ]
    peaks.note(ROW, np.array([NOW + PEAK_DAYS * DAY_S]), np.array([7.0]))
    now = NOW + PEAK_DAYS * DAY_S
    assert peaks.most(ROW, now=now, days=PEAK_DAYS)[1].tolist() == [0.0]


def test_a_kill_of_a_day_that_is_no_longer_kept_changes_nothing() -> None:
    peaks = noted((PEAK_DAYS, 500.0))
    peaks.note_kills(ROW, np.array([NOW]), np.array([400.0]))
    assert not peaks.needed.any()


def test_what_was_needed_is_a_fifth_more_and_100_mib_at_least() -> None:
    needed = needed_after_kill(np.array([0.0, 100 * 2.0**20, 2.0**40]))
    assert needed.tolist() == [100 * 2.0**20, 200 * 2.0**20, 2.0**40 * 1.2]


@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1e12)), min_size=1, max_size=40))
def test_peaks_are_those_of_the_last_days_that_were_noted(spoken: list[tuple[int, float]]) -> None:
    last = max(day for day, _ in spoken)
    peaks = noted(*sorted(spoken))
    now = NOW + last * DAY_S
    expected = max(used for day, used in spoken if day > last - PEAK_DAYS)
    assert peaks.most(ROW, now=now, days=PEAK_DAYS)[0].tolist() == [expected]
    assert peaks.percentile(0.95, ROW, now=now, days=PEAK_DAYS)[0] <= expected


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(0, 1e12)),
        min_size=1,
        max_size=30,
    )
)
def test_samples_of_one_day_in_the_order_of_their_rows_say_what_any_order_says(
    spoken: list[tuple[int, int, float]],
) -> None:
    apart, together = DailyPeaks(4), DailyPeaks(4)
    for row, day, used in spoken:
        apart.note(np.array([row]), np.array([NOW + day * DAY_S]), np.array([used]))
    for day in range(3):
        rows, of = (
            np.array([row for row, of, _ in sorted(spoken) if of == day]),
            np.array([used for _, of, used in sorted(spoken) if of == day]),
        )
        if len(rows):
            together.note(rows, np.full(len(rows), NOW + day * DAY_S), of)
    last = {row: max(day for one, day, _ in spoken if one == row) for row, _, _ in spoken}
    for row, day in last.items():
        slot = int(NOW // DAY_S + day) % PEAK_DAYS
        assert together.days[row, slot] == apart.days[row, slot]
        assert together.largest[row, slot] == apart.largest[row, slot]
