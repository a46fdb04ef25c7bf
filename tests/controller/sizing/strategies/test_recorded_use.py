import numpy as np
import pytest
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse

NAN = np.nan


def test_an_hour_is_a_whole_number_of_steps() -> None:
    with pytest.raises(ValueError, match="700 s"):
        RecordedUse("shop", 700, np.zeros((1, 10)))


def test_what_comes_after_the_last_whole_hour_is_left_out() -> None:
    use = RecordedUse("shop", 1800, np.arange(5.0)[np.newaxis])
    assert use.hours == 2
    assert use.hourly().tolist() == [[[0.0, 1.0], [2.0, 3.0]]]


def test_the_busiest_pod_is_chosen_in_each_step() -> None:
    use = RecordedUse("shop", 1800, np.array([[1.0, 5.0, NAN, NAN], [2.0, NAN, 3.0, NAN]]))
    np.testing.assert_array_equal(use.busiest(), [[2.0, 5.0], [3.0, NAN]])
