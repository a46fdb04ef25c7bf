from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.text import clean


@given(st.one_of(st.binary(max_size=400), st.text(max_size=200)), st.integers(16, 100))
def test_whatever_comes_is_printable_and_short(raw: bytes | str, longest: int) -> None:
    text = clean(raw, longest=longest)
    assert text.isprintable()
    assert len(text) <= longest


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=30))
def test_clean_text_stays_as_it_is(text: str) -> None:
    assert clean(text, longest=30) == clean(text.encode(), longest=30) == text


def test_what_draws_on_a_terminal_is_escaped() -> None:
    assert clean(b"a\x1b[2J\nb\xff", longest=64) == r"a\x1b[2J\nb\xff"
    assert clean("\u202egnp.exe", longest=64) == r"\u202egnp.exe"
    assert clean("\udcff", longest=64) == r"\xff"


def test_long_names_that_begin_alike_stay_apart() -> None:
    one, two = clean("x" * 99 + "a", longest=50), clean("x" * 99 + "b", longest=50)
    assert one != two
    assert one[:40] == two[:40] == "x" * 40
