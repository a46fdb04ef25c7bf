from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.printable_text import printable


@given(st.text(max_size=60), st.integers(1, 60))
def test_whatever_comes_can_be_printed_and_is_short(text: str, longest: int) -> None:
    shown = printable(text, longest=longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    if text.isprintable() and len(text) <= longest:
        assert shown == text


def test_what_is_cut_says_so() -> None:
    assert printable("abcdef", longest=4) == "abc…"
    assert printable("\x1b[2J", longest=10) == "\\x1b[2J"
