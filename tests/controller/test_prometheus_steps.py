import numpy as np
from nemutator_controller.prometheus_answers import DUPLICATE, PrometheusSeries
from nemutator_controller.prometheus_steps import ABSURD, OFF_GRID, by_steps


def test_each_sample_is_in_the_step_that_ends_with_it_and_all_others_are_counted() -> None:
    at = [60.0, 180.0, 180.0005, 200.0, 240.0, 300.0, 360.0, 0.0]
    values = [1.0, 3.0, 4.0, 9.0, -1.0, 1e9, 6.0, 7.0]
    dropped = {OFF_GRID: 1}
    found = by_steps(
        PrometheusSeries({}, at, values), begin=0, step_s=60, steps=5, most=100, dropped=dropped
    )
    assert np.array_equal(found, [1.0, np.nan, 4.0, np.nan, np.nan], equal_nan=True)
    assert dropped == {OFF_GRID: 1 + 3, ABSURD: 2, DUPLICATE: 1}


def test_of_a_series_without_samples_nothing_is_known() -> None:
    dropped: dict[str, int] = {}
    nothing = PrometheusSeries({}, [], [])
    assert np.isnan(by_steps(nothing, begin=0, step_s=60, steps=2, most=1, dropped=dropped)).all()
    assert dropped == {}
