import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.questions import (
    AHEAD_S,
    KEPT_S,
    MOST_STEPS,
    OLDER_S,
    UnclearQuestionError,
    older_steps,
    question,
)

NOW = 1_700_000_010.0


@pytest.mark.parametrize(
    ("query", "span_s", "step_s"),
    [
        ({}, 7_200, 300),
        ({"from": "-3600"}, 3_600, 60),
        ({"from": "-3600", "step": "90"}, 3_600, 120),
        ({"from": "-7000", "to": "-3000"}, 4_000, 60),
        ({"from": "-86400"}, 86_400, 300),
        ({"from": "-86400", "step": "60"}, 86_400, 300),
        ({"from": str(NOW - 600), "to": str(NOW)}, 600, 60),
    ],
)
def test_steps_are_as_fine_as_what_is_kept(query: dict[str, str], span_s: int, step_s: int) -> None:
    asked = question(query, now=NOW)
    assert asked.step_s == step_s
    assert asked.begin % step_s == 0
    assert span_s <= asked.end - asked.begin < span_s + 2 * step_s


@pytest.mark.parametrize(
    "query",
    [
        {"from": "yesterday"},
        {"from": "nan"},
        {"to": "inf"},
        {"from": "-60", "to": "-60"},
        {"from": "-60", "to": "-3600"},
        {"step": "0"},
        {"step": "1e9"},
        {"step": ""},
    ],
)
def test_what_is_unclear_is_refused_with_the_word_that_is(query: dict[str, str]) -> None:
    with pytest.raises(UnclearQuestionError, match=r"^(from|to|step): "):
        question(query, now=NOW)


@given(st.floats(-1e9, 4e9), st.floats(-1e9, 4e9), st.one_of(st.none(), st.floats(1, 86_400)))
def test_an_answer_is_never_too_long(begin: float, end: float, step: float | None) -> None:
    query = {"from": str(begin), "to": str(end)} | ({} if step is None else {"step": str(step)})
    try:
        asked = question(query, now=NOW)
    except UnclearQuestionError:
        return
    assert 1 <= asked.steps <= MOST_STEPS
    assert NOW - KEPT_S - 86_400 <= asked.begin < asked.end <= NOW + AHEAD_S + 86_400


@given(st.floats(-1e9, 4e9), st.one_of(st.none(), st.floats(1, 86_400)))
def test_who_reaches_further_has_longer_steps(begin: float, step: float | None) -> None:
    query = {"from": str(begin)} | ({} if step is None else {"step": str(step)})
    try:
        asked = question(query, now=NOW, reach_s=OLDER_S)
    except UnclearQuestionError:
        return
    assert 1 <= asked.steps <= MOST_STEPS
    older = older_steps(asked, now=NOW)
    assert 0 <= older <= asked.steps
    # The first step that is ours begins within what we keep.
    if older < asked.steps:
        assert asked.begin + older * asked.step_s >= NOW - KEPT_S
    if older:
        assert asked.begin + (older - 1) * asked.step_s < NOW - KEPT_S


def test_three_weeks_are_in_hours_and_a_year_in_days() -> None:
    for days, step_s in ((21, 3600), (100, 10_800), (365, 21_600)):
        asked = question({"from": f"-{days * 86_400}"}, now=NOW, reach_s=OLDER_S)
        assert asked.step_s == step_s
