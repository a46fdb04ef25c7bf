import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.neighbours.resources import SCALES, Contended, level

resources = st.sampled_from(list(Contended))


@pytest.mark.parametrize("resource", list(Contended))
def test_a_grade_begins_at_its_bound(resource: Contended) -> None:
    for grade, bound in enumerate(SCALES[resource].suffering, 1):
        assert level(resource, bound) == pytest.approx(grade)
    assert level(resource, 10.0) == 4.0


@given(resources, st.floats(allow_nan=True, allow_infinity=True))
def test_a_level_lies_between_the_grades(resource: Contended, suffering: float) -> None:
    assert 0.0 <= level(resource, suffering) <= 4.0


@given(resources, st.floats(0, 2), st.floats(0, 2))
def test_more_suffering_is_no_lower_level(resource: Contended, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert level(resource, low) <= level(resource, high)
