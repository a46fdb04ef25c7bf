import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.doctor.checks import (
    DISTRUSTED,
    CheckResult,
    State,
    limited,
    missing,
    number,
    ok,
    unclear,
)
from nemutator_ctl.doctor.facts import Text, Unread


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [("3\n", 3, "3"), ("x", None, DISTRUSTED), (Unread("denied"), None, "denied")],
)
def test_a_setting_is_a_number_or_why_there_is_none(
    text: Text, value: int | None, shown: str
) -> None:
    assert number(text) == (value, shown)


@given(st.text() | st.builds(Unread, st.text()))
def test_what_cannot_be_judged_is_a_limit_with_a_remedy(read: Text) -> None:
    verdict = unclear(read, "it is not known")
    assert (verdict.state, verdict.lost) == (State.LIMITED, "it is not known")
    assert "doctor" in verdict.remedy


def test_a_result_is_what_its_word_says() -> None:
    assert ok("x") == CheckResult(State.OK, "x", "", "")
    assert limited("x", lost="a", remedy="b") == CheckResult(State.LIMITED, "x", "a", "b")
    assert missing("x", lost="a", remedy="b") == CheckResult(State.MISSING, "x", "a", "b")
