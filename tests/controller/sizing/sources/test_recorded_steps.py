import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prometheus_answers import PrometheusSeries
from nemutator_controller.sizing.sources.recorded_steps import (
    PodContainer,
    StepGrid,
    container_of,
    recorded_steps,
)

GRID = StepGrid(begin=3_000.0, step_s=300.0, count=3)
LABELS = {"namespace": "shop", "pod": "cart-1", "container": "app"}
OF = PodContainer("shop", "cart-1", "app")


def series(at: list[float], values: list[float], **labels: str) -> PrometheusSeries:
    return PrometheusSeries({**LABELS, **labels}, at, values)


def test_a_sample_is_of_the_step_that_ends_with_it() -> None:
    found = recorded_steps([series([3_300, 3_900], [0.5, 1.0])], [], GRID)
    assert (GRID.first, GRID.end) == (3_300, 3_900)
    np.testing.assert_array_equal(found.cores[OF], [0.5, np.nan, 1.0])
    assert found.memory == {}


def test_what_cannot_be_is_left_out_and_counted() -> None:
    cores = [
        series([3_000, 3_300, 3_450, 3_600, 3_900], [1, -1, 1, 1e9, 2]),
        series([3_300], [1.0]),
        series([3_300], [1.0], pod=""),
    ]
    found = recorded_steps(cores, [], GRID)
    np.testing.assert_array_equal(found.cores[OF], [np.nan, np.nan, 2.0])
    assert found.dropped == {"off_grid": 2, "absurd": 2, "duplicate": 1, "nameless": 1}


def test_a_series_must_say_whose_it_is() -> None:
    assert container_of(LABELS) == OF
    assert container_of({**LABELS, "container": ""}) is None
    assert container_of({"pod": "x"}) is None
    assert container_of({**LABELS, "pod": "x" * 300}) is None


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(allow_nan=False)), max_size=20))
def test_whatever_is_told_only_what_can_be_is_kept(points: list[tuple[float, float]]) -> None:
    told = series([at for at, _ in points], [value for _, value in points])
    found = recorded_steps([told], [told], GRID)
    for rows, most in ((found.cores, 1_000.0), (found.memory, 1e12)):
        for row in rows.values():
            assert len(row) == GRID.count
            assert all(math.isnan(one) or 0 <= one <= most for one in row)
