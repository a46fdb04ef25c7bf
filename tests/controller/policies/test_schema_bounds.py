"""What the schema says beside its types is about fields that exist, and no wider than what we read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import LONGEST, parse_quantity
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.policies.schema_bounds import BOUNDS, DEFAULTS

from tests.controller.policies.model_words import words


def test_each_bound_and_default_is_that_of_a_field_of_the_model() -> None:
    assert words() >= {*BOUNDS, *DEFAULTS}


@pytest.mark.slow
@given(st.from_regex(QUANTITY, fullmatch=True) | st.text(max_size=8))
def test_what_the_pattern_takes_we_can_read(text: str) -> None:
    # Python's $ also ends before a newline, which the server's does not.
    if len(text) <= LONGEST and QUANTITY.fullmatch(text) and not text.endswith("\n"):
        assert parse_quantity(text).nanos >= 0
