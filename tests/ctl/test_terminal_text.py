from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.terminal_text import columns, visible


@given(st.text(), st.integers(1, 40))
def test_what_is_shown_prints_and_fits(text: str, limit: int) -> None:
    shown = visible(text, limit=limit)
    assert shown.isprintable()
    assert columns(shown) <= limit


def test_an_escape_sequence_is_shown_as_text() -> None:
    assert visible("\x1b[2Jx", limit=20) == "\\x1b[2Jx"


def test_a_bidirectional_override_is_shown_as_text() -> None:
    assert visible("a\u202eb", limit=20) == "a\\u202eb"
