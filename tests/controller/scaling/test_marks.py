"""What the annotation says is read as it was written, and whatever else stands there says nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.scaling.marks import RaisedMark, mark_of

MARK = RaisedMark(base=2, raised=6, decision="d1", by="nemutator", uid="8f-3")
WORDS = st.from_regex(r"[a-z0-9.-]{1,36}", fullmatch=True)


@settings(max_examples=30)
@given(st.integers(0, 500), st.integers(1, 500), WORDS, WORDS, WORDS)
def test_what_was_written_is_read(base: int, more: int, decision: str, by: str, uid: str) -> None:
    mark = RaisedMark(base=base, raised=base + more, decision=decision, by=by, uid=uid)
    assert mark_of(mark.text) == mark


@settings(max_examples=50)
@given(st.text(max_size=80) | st.text("bas=raiedcon uybd0129 ", max_size=80))
def test_any_other_text_says_nothing(text: str) -> None:
    assert mark_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        MARK.text.replace("raised=6", "raised=2"),
        MARK.text.replace("base=2", "base=-2"),
        MARK.text.replace("base=2", "base=٢"),
        MARK.text.replace("raised=6", "raised=9999999"),
        MARK.text + " base=1",
        MARK.text.replace(" ", "  "),
        MARK.text.replace("uid=8f-3", "uid="),
        MARK.text + "x" * 600,
    ],
)
def test_a_text_that_is_almost_ours_says_nothing(text: str) -> None:
    assert mark_of(text) is None
