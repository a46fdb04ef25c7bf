import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.testbed.building import progress


def test_at_the_start_the_estimate_is_what_is_left() -> None:
    assert progress.seconds_left(done=0, total=1900, elapsed_s=30, estimate_s=300) == 270
    assert progress.seconds_left(done=189, total=1900, elapsed_s=30, estimate_s=300) == 270


def test_later_the_measured_pace_is() -> None:
    assert progress.seconds_left(done=500, total=1000, elapsed_s=400, estimate_s=300) == 400
    left = progress.seconds_left(done=750, total=1000, elapsed_s=600, estimate_s=300)
    assert left == pytest.approx(200)


@given(
    done=st.integers(0, 5000),
    total=st.integers(0, 5000),
    elapsed_s=st.floats(0, 1e5),
    estimate_s=st.floats(0, 1e5),
)
def test_what_is_left_is_never_less_than_nothing(
    done: int, total: int, elapsed_s: float, estimate_s: float
) -> None:
    left = progress.seconds_left(done=done, total=total, elapsed_s=elapsed_s, estimate_s=estimate_s)
    assert left >= 0
    progress.line(done=done, total=total, elapsed_s=elapsed_s, estimate_s=estimate_s)


def test_a_line_says_how_much_how_long_and_how_much_longer() -> None:
    assert (
        progress.line(done=500, total=1000, elapsed_s=300, estimate_s=720)
        == "50 % (500 of 1000 packages) after 5 min, about 5 min left"
    )


def test_a_line_never_says_more_than_all() -> None:
    line = progress.line(done=1200, total=1000, elapsed_s=80, estimate_s=720)
    assert line == "100 % (1000 of 1000 packages) after 80 s, about 0 s left"


def test_without_a_total_there_is_no_share() -> None:
    line = progress.line(done=3, total=0, elapsed_s=60, estimate_s=720)
    assert line == "after 60 s, about 11 min left"


@pytest.mark.parametrize(("cores", "expected"), [(1, 1440), (2, 720), (8, 180), (0, 1440)])
def test_an_estimate_is_for_the_cores_that_there_are(cores: int, expected: float) -> None:
    assert progress.estimate_for(cores, 720) == expected
