"""Against KRR's own arithmetic: a percentile of each pod with linear interpolation, the largest of them."""

import numpy as np
import pytest
from nemutator_controller.sizing.strategies import krr
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def test_the_hottest_replica_decides_and_not_all_together() -> None:
    pods = np.full((30, 240), 0.1)
    pods[7] = 1.0
    assert krr.cpu(RecordedUse("web", 300, pods))[-1] == pytest.approx(1.0)


def test_a_percentile_lies_between_two_samples() -> None:
    # 108 samples 1 … 108: the 95th percentile of Prometheus is 1 + 0.95 * 107 = 102.65.
    use = RecordedUse("web", 300, np.arange(1.0, 121.0)[np.newaxis])
    assert krr.cpu(use)[9] == pytest.approx(102.65)


def test_fewer_than_a_hundred_points_of_all_pods_say_nothing() -> None:
    use = RecordedUse("web", 300, np.ones((1, 120)))
    said = ~np.isnan(krr.cpu(use))
    assert said.tolist() == [False] * 9 + [True]
    two = RecordedUse("web", 300, np.ones((2, 120)))
    assert (~np.isnan(krr.cpu(two))).tolist() == [False] * 5 + [True] * 5


def test_memory_is_the_largest_peak_and_a_buffer_in_whole_megabytes() -> None:
    pods = np.full((2, 120), 200e6)
    pods[1, 3] = 300.5e6
    assert krr.memory(RecordedUse("web", 300, pods))[-1] == 346e6


def test_there_are_floors() -> None:
    use = RecordedUse("web", 300, np.full((1, 120), 1e-6))
    assert krr.cpu(use)[-1] == 0.01
    assert krr.memory(use)[-1] == 100e6


def test_what_is_older_than_two_weeks_is_forgotten() -> None:
    steps = np.full(15 * 24, 1.0)
    steps[0] = 9e9
    use = RecordedUse("web", 3600, steps[np.newaxis])
    assert krr.memory(use)[336] == pytest.approx(9e9 * 1.15)
    assert krr.memory(use)[337] == 100e6
