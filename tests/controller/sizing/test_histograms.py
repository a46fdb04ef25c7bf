"""Against the Vertical Pod Autoscaler's histogram, told again in plain loops."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.buckets import VPA_CPU as CPU
from nemutator_controller.sizing.histograms import (
    EPSILON,
    FAINT,
    HALF_LIFE_S,
    MANY_ROWS,
    ROWS_AT_ONCE,
    Histograms,
)

NOW = 1_700_000_000.0
FIRST = np.array([0], dtype=np.intp)


@dataclass
class Plain:
    """One decaying histogram, one bucket after the other."""

    weights: dict[int, float] = field(default_factory=dict)

    def add(self, value: float, weight: float, at: float) -> None:
        bucket = 0
        if value >= CPU.first:
            bucket = math.floor(math.log(value * 0.05 / CPU.first + 1) / math.log(1.05))
        bucket = min(bucket, CPU.count - 1)
        decayed = weight * 2.0 ** ((at - NOW) / HALF_LIFE_S)
        self.weights[bucket] = self.weights.get(bucket, 0.0) + decayed

    def percentile(self, share: float) -> float:
        if not self.weights:
            return 0.0
        # VPA forgets here what is faint however little there is besides; a row that was not heard
        # of for ten days would have no value any more, and a container that is idle would.
        least = min(EPSILON, FAINT * sum(self.weights.values()))
        filled = [bucket for bucket, weight in self.weights.items() if weight >= least]
        reached, bucket = 0.0, min(filled)
        for bucket in range(min(filled), max(filled) + 1):
            reached += self.weights.get(bucket, 0.0)
            if reached >= share * sum(self.weights.values()):
                break
        return CPU.start(min(bucket + 1, CPU.count - 1))


def add(histograms: Histograms, *samples: tuple[float, float], row: int = 0) -> None:
    values, moments = (np.array(column) for column in zip(*samples, strict=True))
    histograms.add(np.full(len(samples), row, dtype=np.intp), values, 0.1, moments)


def percentile(histograms: Histograms, share: float, row: int = 0) -> float:
    return float(histograms.percentile(share, np.array([row], dtype=np.intp))[0])


def test_an_empty_row_has_no_percentile() -> None:
    assert percentile(Histograms(CPU, rows=1), 0.95) == 0.0


@given(st.floats(0.02, 900), st.integers(1, 90))
def test_what_was_seen_is_known_as_long_as_the_row_is_kept(cores: float, days: int) -> None:
    histograms = Histograms(CPU, rows=2)
    add(histograms, (0.005, NOW + days * HALF_LIFE_S), row=1)
    add(histograms, (cores, NOW))
    assert percentile(histograms, 0.95) >= cores
    histograms.subtract(FIRST, np.array([cores]), 0.1, np.array([NOW]))
    assert percentile(histograms, 0.95) == 0.0


def test_a_percentile_is_the_upper_edge_of_its_bucket() -> None:
    histograms = Histograms(CPU, rows=1)
    add(histograms, *[(0.005, NOW)] * 9, (1.0, NOW))
    assert percentile(histograms, 0.5) == 0.01
    assert percentile(histograms, 0.89) == 0.01
    assert percentile(histograms, 0.95) == pytest.approx(1.0, rel=0.06)
    assert percentile(histograms, 0.95) >= 1.0


def test_after_a_half_life_a_new_sample_outweighs_an_old_one() -> None:
    histograms = Histograms(CPU, rows=1)
    add(histograms, (8.0, NOW), (0.5, NOW + HALF_LIFE_S))
    assert percentile(histograms, 0.66) < 1
    assert percentile(histograms, 0.67) > 7


EDGES = [CPU.start(bucket) for bucket in range(1, CPU.count)]


def is_inside_a_bucket(value: float) -> bool:
    """On an edge two ways to take the same logarithm may differ by one."""
    return not any(math.isclose(value, edge, rel_tol=1e-9) for edge in EDGES)


samples = st.lists(
    st.tuples(st.floats(0.0, 2000.0).filter(is_inside_a_bucket), st.floats(0.0, 14 * HALF_LIFE_S)),
    min_size=1,
    max_size=60,
)


@given(samples, st.sampled_from([0.01, 0.5, 0.9, 0.95, 1.0]))
def test_it_is_the_same_as_in_plain_loops(samples: list[tuple[float, float]], share: float) -> None:
    # Weights that are one float32 apart may fall on both sides of a share: leave room for that.
    histograms, plain = Histograms(CPU, rows=2), Plain()
    histograms.reference_at = NOW
    for value, after_s in samples:
        plain.add(value, 0.1, NOW + after_s)
        add(histograms, (value, NOW + after_s), row=1)
    low, high = plain.percentile(max(share - 1e-5, 0)), plain.percentile(min(share + 1e-5, 1))
    assert low <= percentile(histograms, share, row=1) <= high
    assert percentile(histograms, share, row=0) == 0.0


@given(samples)
def test_many_at_once_are_the_same_as_one_by_one(samples: list[tuple[float, float]]) -> None:
    moments = [(value, NOW + after_s) for value, after_s in samples]
    at_once, singly = Histograms(CPU, rows=1), Histograms(CPU, rows=1)
    at_once.reference_at = singly.reference_at = NOW
    add(at_once, *moments)
    for moment in moments:
        add(singly, moment)
    assert np.allclose(at_once.weights(0), singly.weights(0), rtol=1e-4, atol=1e-7)


def test_moving_the_reference_changes_no_percentile() -> None:
    moved, unmoved = Histograms(CPU, rows=2), Histograms(CPU, rows=1)
    moved.reference_at = unmoved.reference_at = NOW
    samples = [(cores, NOW + 96 * HALF_LIFE_S + cores) for cores in (0.1, 0.5, 2.0, 9.0)]
    add(moved, *samples)
    add(unmoved, *samples)
    add(moved, (1.0, NOW + 101 * HALF_LIFE_S), row=1)
    assert moved.reference_at > unmoved.reference_at == NOW
    for share in (0.1, 0.4, 0.6, 0.9):
        assert percentile(moved, share) == percentile(unmoved, share)


def test_moving_the_reference_scales_all_rows_alike_and_none_that_nothing_was_written_to() -> None:
    rows = np.arange(2 * ROWS_AT_ONCE + 3, dtype=np.intp)
    histograms = Histograms(CPU, rows=3 * len(rows))
    histograms.reference_at = NOW
    values, at = np.linspace(0.0, 40.0, len(rows)), np.full(len(rows), NOW + 99 * HALF_LIFE_S)
    histograms.add(rows, values, 0.1, at)
    before = histograms.weights(rows)
    add(histograms, (1.0, NOW + 101 * HALF_LIFE_S), row=len(rows))
    halvings = (histograms.reference_at - NOW) / HALF_LIFE_S
    expected = (before * np.float64(2.0) ** -halvings).astype(np.float32)
    assert histograms.weights(rows).tobytes() == expected.tobytes()
    assert not histograms.weights(rows + len(rows) + 1).any()


def test_what_is_a_hundred_half_lives_old_is_gone() -> None:
    histograms = Histograms(CPU, rows=1)
    add(histograms, (50.0, NOW))
    add(histograms, (0.5, NOW + 101 * HALF_LIFE_S))
    assert percentile(histograms, 1.0) < 1


def test_what_is_taken_back_leaves_nothing() -> None:
    histograms = Histograms(CPU, rows=1)
    histograms.add(FIRST, np.array([3.0]), 1.0, np.array([NOW]))
    histograms.subtract(FIRST, np.array([3.0]), 1.0, np.array([NOW]))
    assert percentile(histograms, 1.0) == 0.0
    assert not histograms.weights(0).any()


@pytest.mark.parametrize("moved_s", [0.0, 130 * HALF_LIFE_S])
def test_a_restored_row_goes_on_where_it_was(moved_s: float) -> None:
    histograms = Histograms(CPU, rows=1)
    add(histograms, (0.3, NOW), (4.0, NOW + 60))
    other = Histograms(CPU, rows=2)
    add(other, (0.1, NOW + moved_s), row=0)
    other.restore(1, histograms.weights(0), histograms.reference_at)
    kept = 2.0 ** ((histograms.reference_at - other.reference_at) / HALF_LIFE_S)
    assert other.weights(1).sum() == pytest.approx(histograms.weights(0).sum() * kept)


def test_rows_are_empty_at_first_and_once_they_are_cleared() -> None:
    histograms = Histograms(CPU, rows=3)
    add(histograms, (0.3, NOW))
    assert percentile(histograms, 0.5, row=2) == 0.0
    assert percentile(histograms, 0.5) > 0.0
    histograms.clear(0)
    assert percentile(histograms, 0.5) == 0.0


@given(
    st.lists(
        st.dictionaries(st.integers(0, CPU.count - 1), st.floats(0, 1e9, width=32), max_size=5),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from((0.0, 0.5, 0.95, 1.0)),
)
def test_many_rows_have_the_percentiles_that_each_has_alone(
    filled: list[dict[int, float]], share: float
) -> None:
    rows = len(filled) + MANY_ROWS
    histograms = Histograms(CPU, rows=rows)
    for row, weights in enumerate(filled):
        kept = np.zeros(CPU.count, dtype=np.float32)
        kept[list(weights)] = list(weights.values())
        histograms.restore(row, kept, 0.0)
    together = histograms.percentile(share, np.arange(rows, dtype=np.intp))
    alone = [percentile(histograms, share, row) for row in range(rows)]
    assert together.tolist() == alone
