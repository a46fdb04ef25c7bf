import pytest
from hypothesis import given
from nemutator_common.profiles.grade import Grade, breaks, of_pairs, pairs, percent, sentence

from tests.common.profiles.made import GRADES

GRADE = Grade(
    rooted=987,
    broken={"cut": 3, "cgo": 10},
    calls={"direct": 9000, "possible": 990, "wrong": 10, "unread": 500},
)


def test_a_grade_is_one_sentence_for_people() -> None:
    assert sentence(GRADE, recorded=1000, lost=3) == (
        "98.7 % of stacks reach their root; 99.9 % of calls are real calls in the code; 0.3 % lost"
    )
    assert breaks(GRADE) == "1 % end in C of a Go program, 0.3 % deeper than is kept"


def test_what_was_not_judged_is_not_praised() -> None:
    unread = Grade(rooted=2, calls={"unread": 7})
    assert (unread.checked, unread.real_share) == (0, None)
    assert sentence(unread, recorded=2, lost=0) == (
        "100 % of stacks reach their root; no call was checked in the code; 0 % lost"
    )
    nothing = Grade(rooted=0)
    assert (nothing.rooted_share, nothing.real_share) == (None, None)
    assert sentence(nothing, recorded=0, lost=0) == ""
    assert sentence(nothing, recorded=0, lost=3) == "100 % lost"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0 %"),
        (0.0004, "less than 0.1 %"),
        (0.003, "0.3 %"),
        (0.5, "50 %"),
        (0.9994, "99.9 %"),
        (0.99996, "more than 99.9 %"),
        (1, "100 %"),
    ],
)
def test_what_is_not_all_is_not_shown_as_all(share: float, shown: str) -> None:
    assert percent(share) == shown


@given(GRADES)
def test_a_grade_is_made_again_of_its_words(grade: Grade) -> None:
    assert of_pairs(pairs(grade)) == grade
    assert of_pairs([*pairs(grade), ("calls.of_a_later_version", 7)]) == grade


def test_without_its_first_word_there_is_no_grade() -> None:
    assert of_pairs([("calls.direct", 1)]) is None
