import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.strategies import hourly_cpu
from nemutator_controller.sizing.strategies.hourly_cpu import HourlyCpu
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse
from nemutator_controller.sizing.strategies.request_plans import LEAST_CORES


def _use(hours: np.ndarray) -> RecordedUse:
    return RecordedUse("web", 1800, np.repeat(hours, 2)[np.newaxis])


def test_steady_use_is_requested_as_it_is_and_never_changed() -> None:
    requested = hourly_cpu.cpu(_use(np.full(24 * 8, 2.0)))
    assert np.isnan(requested[0])
    assert requested[1:].tolist()[-1] == pytest.approx(2.0, rel=0.11)
    assert np.count_nonzero(np.diff(requested[48:])) <= 2


def test_a_day_and_night_are_followed_ahead_of_time() -> None:
    day = np.where((np.arange(24) >= 8) & (np.arange(24) < 20), 10.0, 1.0)
    requested = hourly_cpu.cpu(_use(np.tile(day, 12)))
    last = requested[-24:]
    assert (last >= np.tile(day, 1) * 0.89).all(), "it is there when the day begins"
    assert last.sum() < 24 * 10 * 0.75
    assert np.count_nonzero(np.diff(last)) <= 4


def test_a_spike_without_a_pattern_does_not_stay_for_long() -> None:
    hours = np.ones(24 * 14)
    hours[24 * 10 + 5] = 50.0
    requested = hourly_cpu.cpu(_use(hours))
    assert requested[-1] < 10.0


def test_hours_without_a_pod_change_nothing() -> None:
    hours = np.full(24 * 6, 3.0)
    hours[60:100] = np.nan
    requested = hourly_cpu.cpu(_use(hours))
    assert not np.isnan(requested[1:]).any()
    assert requested[80] == requested[60]


def test_who_runs_every_other_hour_is_learned_too() -> None:
    hours = np.full(24 * 8, 3.0)
    hours[::2] = np.nan
    assert hourly_cpu.cpu(_use(hours))[-1] == pytest.approx(3.0, rel=0.11)


def test_who_was_never_seen_gets_no_request() -> None:
    assert np.isnan(hourly_cpu.cpu(_use(np.full(30, np.nan)))).all()


def test_who_uses_nothing_gets_the_least() -> None:
    assert hourly_cpu.cpu(_use(np.zeros(48)))[-1] == pytest.approx(LEAST_CORES, rel=0.01)


def test_use_without_any_order_is_not_followed_up_and_down_all_day() -> None:
    random = np.random.default_rng(4)
    requested = hourly_cpu.cpu(_use(random.exponential(1.0, 24 * 14)))
    assert np.count_nonzero(np.diff(requested[-24 * 7 :])) <= 7 * 6


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hour=st.integers(1, 23))
def test_a_request_knows_only_what_was_before_its_hour(seed: int, hour: int) -> None:
    random = np.random.default_rng(seed)
    one = random.exponential(1.0, (1, 24 * 2))
    other = one.copy()
    other[:, hour * 2 :] *= random.exponential(5.0, (1, (24 - hour) * 2))
    requested = [hourly_cpu.cpu(RecordedUse("web", 1800, use)) for use in (one, other)]
    np.testing.assert_array_equal(requested[0][: hour + 1], requested[1][: hour + 1])


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), times=st.sampled_from([0.25, 8.0, 1024.0]))
def test_twice_the_use_is_twice_the_request(seed: int, times: float) -> None:
    use = np.random.default_rng(seed).uniform(1.0, 3.0, (1, 40))
    requested, more = (
        hourly_cpu.cpu(RecordedUse("web", 1800, used)) for used in (use, use * times)
    )
    np.testing.assert_allclose(more, requested * times, rtol=1e-5)


def _hours(rows: int, hours: int, seed: int = 17) -> np.ndarray:
    """Hours by rows by steps, with gaps and a row that is never seen."""
    random = np.random.default_rng(seed)
    used = random.exponential(1.0, (hours, rows, 4)) * 10 ** random.uniform(-3, 2, (1, rows, 1))
    used[random.random((hours, rows)) < 0.1] = np.nan
    used[random.random(used.shape) < 0.05] = np.nan
    used[:, 0] = np.nan
    return used


def test_stepping_all_containers_is_the_replay_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hourly_cpu, "SLICE_ROWS", 3)
    used = _hours(rows=4, hours=30)
    together = HourlyCpu(4)
    stepped = [together.requested.copy()]
    stepped += [together.step(hour).copy() for hour in used]
    for row in range(4):
        replayed = hourly_cpu.cpu(RecordedUse("web", 900, used[:, row].reshape(1, -1)))
        np.testing.assert_array_equal(np.array(stepped)[:-1, row], replayed)


@pytest.mark.parametrize("slice_rows", [2, 500])
def test_many_containers_together_get_what_each_gets_alone(
    monkeypatch: pytest.MonkeyPatch, slice_rows: int
) -> None:
    monkeypatch.setattr(hourly_cpu, "SLICE_ROWS", slice_rows)
    used = _hours(rows=5, hours=30)
    uses = [RecordedUse(str(row), 900, used[:, row].reshape(1, -1)) for row in range(5)]
    uses.insert(2, RecordedUse("shorter", 900, used[:11, 3].reshape(1, -1)))
    uses.append(RecordedUse("coarser", 1800, used[:, 4].reshape(2, -1)))
    together = hourly_cpu.cpu_of_all(uses, 12.0)
    assert len(together) == len(uses)
    for use, requested in zip(uses, together, strict=True):
        np.testing.assert_array_equal(requested, hourly_cpu.cpu(use, 12.0))


def test_rows_that_are_taken_apart_and_joined_go_on_as_if_nothing_had_been() -> None:
    used = _hours(rows=3, hours=40)
    one = HourlyCpu(3)
    for hour in used[:30]:
        one.step(hour)
    other = one.taken([2, 0]).joined(one.taken([1]))
    for hour in used[30:]:
        np.testing.assert_array_equal(one.step(hour)[[2, 0, 1]], other.step(hour[[2, 0, 1]]))


def test_a_row_that_comes_knows_nothing_of_the_others() -> None:
    used = _hours(rows=2, hours=30)
    known = HourlyCpu(1)
    for hour in used[:20, 1:]:
        known.step(hour)
    alone = HourlyCpu(1)
    alone.hour = known.hour
    both = known.joined(alone)
    assert np.isnan(both.requested).tolist() == [False, True]
    for hour in used[20:]:
        both.step(hour)
        np.testing.assert_array_equal(both.requested[1:], alone.step(hour[1:]))


def test_use_of_other_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="2 rows"):
        HourlyCpu(2).step(np.ones((3, 4)))


def test_what_is_kept_of_a_container_is_little_and_does_not_grow() -> None:
    container = HourlyCpu(10)
    sizes = []
    for hour in _hours(rows=10, hours=3):
        container.step(hour)
        sizes.append(len(pickle.dumps(container)))
    assert len(set(sizes)) == 1
    assert sizes[0] <= 10 * 2000


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_requests_are_numbers_within_what_was_ever_used_times_the_largest_margins(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    used = 10.0 ** random.uniform(-9, 6, (20, 4, 3))
    used[random.random(used.shape) < 0.3] = 0.0
    containers = HourlyCpu(4)
    most = np.zeros(4)
    for hour in used:
        requested = containers.step(hour)
        most = np.maximum(most, hour.max(axis=1))
        assert np.isfinite(requested).all()
        assert (requested >= LEAST_CORES * 0.999).all()
        # Growth and a level may each make three times of it, and 5.5 is the largest margin.
        assert (requested <= np.maximum(most * 3 * 5.5, 2 * LEAST_CORES)).all()
