"""Against figures of the recommender's own: bucket edges, margins, and how its bounds close."""

import numpy as np
import pytest
from nemutator_controller.sizing.buckets import VPA_CPU
from nemutator_controller.sizing.strategies import vpa
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse
from nemutator_controller.sizing.strategies.vpa import DecayingHistogram, updated

NAN = np.nan


def test_a_percentile_is_the_upper_edge_of_its_bucket() -> None:
    histogram = DecayingHistogram(VPA_CPU)
    histogram.add(np.array([0.005, 0.015, 0.9]), np.array([8.0, 1.0, 1.0]))
    assert histogram.percentile(0.5) == pytest.approx(0.01)
    assert histogram.percentile(0.9) == pytest.approx(0.0205)
    assert 0.9 < histogram.percentile(0.95) < 0.9 * 1.06


def test_a_sample_counts_half_after_a_day() -> None:
    histogram = DecayingHistogram(VPA_CPU)
    histogram.add(np.array([0.5]), np.array([1.0]))
    histogram.age(24)
    histogram.add(np.array([0.1]), np.array([0.51]))
    assert histogram.percentile(0.5) < 0.2


def test_an_empty_histogram_is_zero() -> None:
    assert DecayingHistogram(VPA_CPU).percentile(0.9) == 0.0


def test_steady_use_is_asked_for_with_the_margin() -> None:
    use = RecordedUse("web", 300, np.full((1, 12 * 24 * 3), 0.5))
    wanted = vpa.cpu(use)
    assert np.isnan(wanted[0])
    assert 0.5 * 1.15 < wanted[-1] < 0.5 * 1.06 * 1.15


def test_little_use_is_lifted_to_the_floors() -> None:
    use = RecordedUse("web", 300, np.full((1, 12 * 24), 1e-4))
    assert vpa.cpu(use)[-1] == 0.025
    assert vpa.memory(use)[-1] == 250 * 2**20


def test_of_memory_the_peaks_of_days_count_and_eight_of_them() -> None:
    days = np.full((11, 24), 1e9)
    days[0] = 8e9
    use = RecordedUse("web", 3600, days.reshape(1, -1))
    # With two days, the old peak is half of the new one's weight: its 90th percentile is the old peak.
    assert vpa.memory(use)[25] > 8e9
    assert vpa.memory(use)[-1] < 2e9


def test_a_larger_margin_of_memory_moves_target_and_bounds_alike() -> None:
    days = np.random.default_rng(17).uniform(1e9, 4e9, (1, 24 * 9))
    use = RecordedUse("web", 3600, days)
    np.testing.assert_allclose(vpa.memory(use, 2.3)[1:], 2 * vpa.memory(use)[1:])


def test_a_request_moves_when_it_leaves_its_bounds_or_is_far_away_for_long() -> None:
    targets = np.array([NAN, 1.0, *[1.2] * 12, 1.25])
    lower, upper = np.full(15, 0.5), np.full(15, 2.0)
    assert updated(targets, lower, upper).tolist()[1:] == [1.0] * 12 + [1.2, 1.2]
    upper[3] = 0.9
    assert updated(targets, lower, upper)[3] == 1.2
