import itertools

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.hysteresis import DOWN_TIMES, UP_TIMES, HeldGrades


def after(held: HeldGrades[str], *scores: float) -> int:
    for score in scores:
        held.assess({"a": score})
    return held.grade("a")


def test_a_grade_comes_with_the_second_look_and_goes_with_the_fifth() -> None:
    held: HeldGrades[str] = HeldGrades()
    assert after(held, 3.2) == 0
    assert after(held, *[2.4] * (UP_TIMES - 1)) == 2
    assert after(held, *[0.0] * (DOWN_TIMES - 1)) == 2
    assert after(held, 0.0) == 0
    assert len(held) == 0


def test_a_score_that_wavers_around_a_bound_changes_nothing() -> None:
    held: HeldGrades[str] = HeldGrades()
    assert after(held, 2.1, 2.1) == 2
    assert after(held, *[1.9, 2.1, 1.8] * 20) == 2


def test_one_peak_among_low_looks_is_no_grade() -> None:
    held: HeldGrades[str] = HeldGrades()
    assert after(held, *[4.0, 0.2] * 10) == 0


def test_while_nobody_can_tell_the_grade_stays() -> None:
    held: HeldGrades[str] = HeldGrades()
    assert after(held, 3.0, 3.0) == 3
    for _ in range(20):
        held.assess({"b": 0.0})
    assert list(held) == ["a"]
    assert held.grade("a") == 3
    held.forget("a")
    assert held.grade("a") == 0


@given(st.lists(st.floats(0, 4), max_size=60))
def test_a_grade_moves_rarely_and_stays_in_its_range(scores: list[float]) -> None:
    held: HeldGrades[str] = HeldGrades()
    grades = [after(held, score) for score in scores]
    assert all(0 <= grade <= 4 for grade in grades)
    downs = sum(b < a for a, b in itertools.pairwise(grades))
    assert downs <= len(scores) / DOWN_TIMES
    if scores:
        assert max(grades) <= max(scores)
