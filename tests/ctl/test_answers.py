import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import OperatorError
from nemutator_ctl.answers import link

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("url"), inner),
    max_leaves=5,
)


def test_the_link_of_an_answer() -> None:
    assert link({"url": "http://127.0.0.1:1/open?key=x", "expires_in_s": 600}).endswith("key=x")


@given(JSON)
def test_whatever_is_answered_the_link_can_be_printed(document: object) -> None:
    try:
        shown = link(document)
    except OperatorError as error:
        shown = error.what
    assert shown.isprintable()


def test_a_link_that_draws_on_the_terminal_is_none() -> None:
    with pytest.raises(OperatorError, match="not a link"):
        link({"url": "http://\x1b[2J"})
