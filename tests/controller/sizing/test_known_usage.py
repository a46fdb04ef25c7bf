import pytest

from tests.controller.sizing.test_recommendation import SEEN, paced


@pytest.mark.parametrize(
    ("points", "span_s", "observed_s"),
    [
        pytest.param(100, 1_500.0, 1_500.0, id="all of it"),
        pytest.param(3_000, 1_500.0, 1_500.0, id="thirty replicas see no more time than one"),
        pytest.param(2, 86_400.0, 30.0, id="two points a day apart"),
    ],
)
def test_what_was_observed_is_neither_more_than_the_span_nor_than_the_points(
    points: int, span_s: float, observed_s: float
) -> None:
    assert paced(SEEN, points, span_s).observed_s == observed_s
