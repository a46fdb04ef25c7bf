from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.buckets import CPU
from nemutator_controller.sizing.hottest import (
    LEAST_POINTS,
    PLACES,
    RIVAL,
    RIVAL_CORES,
    SEVERAL,
    HottestReplicas,
    SavedReplica,
)

NOW = 1_700_000_000.0
ROW = np.array([0], dtype=np.intp)


def made(*, rows: int = 4, most: int = 100) -> HottestReplicas:
    return HottestReplicas(CPU, rows=rows, most=most)


def add(hottest: HottestReplicas, n: int, *samples: tuple[int, float], row: int = 0) -> None:
    """The *samples* of replicas, of the quarter of a minute *n*."""
    replicas, cores = zip(*samples, strict=True)
    hottest.add(
        np.full(len(samples), row, dtype=np.intp),
        np.array(replicas, dtype=np.int64),
        np.array(cores, dtype=np.float64),
        np.full(len(samples), NOW + 15.0 * n),
        weight=0.1,
    )


def kept_of(hottest: HottestReplicas, row: int) -> tuple[int, tuple[SavedReplica, ...]]:
    [found] = hottest.kept(np.array([row]))
    return found


def p95(hottest: HottestReplicas, *, since: float = 0.0) -> float:
    return float(hottest.percentile(0.95, ROW, since=since)[0])


def test_a_single_replica_needs_no_place() -> None:
    hottest = made()
    for n in range(200):
        add(hottest, n, (7, 0.5))
    assert (len(hottest), p95(hottest)) == (0, 0.0)


def test_the_busiest_has_a_place_however_many_came_before_it() -> None:
    hottest = made()
    for n in range(LEAST_POINTS + 1):
        add(hottest, n, *((pod, 0.2) for pod in range(1, 30)), (30, 1.0))
    assert len(hottest) == PLACES
    assert p95(hottest) == pytest.approx(1.0, rel=0.051)


def test_one_that_becomes_busy_later_takes_a_place_and_counts_once_it_is_known() -> None:
    hottest = made()
    for n in range(200):
        add(hottest, n, (1, 0.2), (2, 0.2), (3, 0.2))
    for n in range(200, 200 + LEAST_POINTS - 1):
        add(hottest, n, (1, 0.2), (2, 0.2), (3, 2.0))
    assert p95(hottest) < 0.3
    add(hottest, 299, (3, 2.0))
    assert p95(hottest) == pytest.approx(2.0, rel=0.051)


def test_replicas_that_are_alike_do_not_push_each_other_out() -> None:
    hottest, draws = made(), np.random.default_rng(3)
    for n in range(LEAST_POINTS + 20):
        add(hottest, n, *((pod, float(draws.uniform(0.2, 0.28))) for pod in range(1, 10)))
    _, kept = kept_of(hottest, 0)
    assert {one.points for one in kept} == {LEAST_POINTS + 20}


def test_one_that_was_not_seen_for_as_long_as_peaks_count_does_not_decide() -> None:
    hottest = made()
    for n in range(LEAST_POINTS + 1):
        add(hottest, n, (1, 0.2), (2, 3.0))
    assert p95(hottest, since=NOW) > 2.9
    assert p95(hottest, since=NOW + 86_400) == 0.0


def test_without_room_others_are_not_told_apart_and_room_comes_back() -> None:
    hottest = made(most=2)
    for row in range(2):
        add(hottest, 0, (1, 0.2), (2, 0.2), row=row)
        add(hottest, 1, (1, 0.2), (2, 0.2), row=row)
    assert len(hottest) == 2
    assert kept_of(hottest, 1) == (SEVERAL, ())
    hottest.clear(0)
    add(hottest, 2, (1, 0.2), (2, 0.2), row=1)
    assert len(kept_of(hottest, 1)[1]) == 2


def test_what_is_kept_goes_on_after_a_restart() -> None:
    hottest, other = made(), made()
    for n in range(LEAST_POINTS + 5):
        add(hottest, n, (1, 0.2), (2, 1.0))
    only, kept = kept_of(hottest, 0)
    other.restore(0, only, kept, reference_at=hottest.histograms.reference_at)
    assert p95(other) == p95(hottest)
    for one in (hottest, other):
        add(one, 300, (2, 1.0), (3, 9.0))
    assert [one.replica for one in kept_of(other, 0)[1]] == [
        one.replica for one in kept_of(hottest, 0)[1]
    ]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 5), st.floats(0, 10)), min_size=1, max_size=6),
        max_size=20,
    )
)
def test_places_are_of_different_replicas_and_never_more_than_there_are(
    spoken: Sequence[Sequence[tuple[int, float]]],
) -> None:
    hottest = made()
    for n, samples in enumerate(spoken):
        add(hottest, n, *samples)
    only, kept = kept_of(hottest, 0)
    seen = {replica for samples in spoken for replica, _ in samples}
    replicas = [one.replica for one in kept]
    assert len(set(replicas)) == len(replicas) <= PLACES
    assert set(replicas) <= seen
    assert (only == SEVERAL) == (len(seen) > 1)


def test_several_rows_are_kept_as_each_of_them_is_and_stay_what_they_were() -> None:
    hottest = made()
    for n in range(3):
        add(hottest, n, (7, 0.5), row=0)
        add(hottest, n, (1, 0.5), (2, 4.0), row=1)
        add(hottest, n, (3, 2.0), (4, 1.0), (5, 9.0), row=3)
    rows = [3, 0, 2, 1]
    together = list(hottest.kept(np.array(rows)))
    assert [[one.replica for one in kept] for _, kept in together] == [
        [one.replica for one in kept_of(hottest, row)[1]] for row in rows
    ]
    assert [only for only, _ in together] == [kept_of(hottest, row)[0] for row in rows]
    before = [one.cpu.copy() for _, kept in together for one in kept]
    assert len(before) >= PLACES
    add(hottest, 9, (1, 0.5), (2, 4.0), row=1)
    for one, was in zip((one for _, kept in together for one in kept), before, strict=True):
        assert (one.cpu == was).all()


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 2), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.2, 0.31, 0.5, 2])
            ),
            min_size=1,
            max_size=25,
        ),
        max_size=6,
    )
)
def test_rows_that_come_together_end_as_if_each_came_alone(
    reports: list[list[tuple[int, int, float]]],
) -> None:
    """And those of another row make nobody be left out who would take a place."""
    together, apart = made(rows=3), made(rows=3)
    for n, report in enumerate(reports):
        ordered = sorted(report, key=lambda one: one[0])
        rows, replicas, cores = (np.array(column) for column in zip(*ordered, strict=True))
        at = np.array([NOW + 600.0 * n + 15.0 * (number % 4) for number in range(len(rows))])
        together.add(rows, replicas, cores.astype(np.float64), at, weight=0.1)
        for row in range(3):
            of = rows == row
            if of.any():
                apart.add(rows[of], replicas[of], cores[of].astype(np.float64), at[of], weight=0.1)
    for row in range(3):
        (only, some), (only_apart, some_apart) = kept_of(together, row), kept_of(apart, row)
        assert only == only_apart
        assert [(one.replica, one.points, one.high, one.last_at) for one in some] == [
            (one.replica, one.points, one.high, one.last_at) for one in some_apart
        ]
        assert all(
            (one.cpu == other.cpu).all() for one, other in zip(some, some_apart, strict=True)
        )


@given(st.integers(0, 1 << 30))
def test_nobody_who_would_take_a_place_is_left_out_because_others_came_later(seed: int) -> None:
    dice = np.random.default_rng(seed)
    hottest = made(rows=1)
    add(hottest, 0, (1, 0.2), (2, 0.2))
    at = NOW + 3600 * dice.random(30)
    replicas, cores = np.arange(3, 33), 0.3 * dice.random(30)
    aged = 0.2 * 0.5 ** ((at - NOW) / 3600)
    rivals = cores > np.maximum(aged * RIVAL, aged + RIVAL_CORES)
    hottest.add(np.zeros(30, dtype=np.intp), replicas, cores, at, weight=0.1)
    _, kept = kept_of(hottest, 0)
    assert any(one.replica > 2 for one in kept) == rivals.any()
