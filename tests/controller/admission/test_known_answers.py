"""Answers are kept for as long as all that is known is the very same, and no more of them than so many."""

from typing import Any

from nemutator_controller.admission.known_answers import KnownAnswer, KnownAnswers

ANSWER: Any = object.__new__(KnownAnswer)


def test_they_are_found_by_all_that_they_depend_on() -> None:
    known, policies, other = KnownAnswers(), (object(),), (object(),)
    known.keep((b"a", False), other, ANSWER)
    assert known.find((b"a", False), policies) is None
    known.keep((b"a", False), policies, ANSWER)
    assert known.find((b"a", False), policies) is ANSWER
    assert known.find((b"a", True), policies) is None
    assert known.find((b"b", False), policies) is None
    assert known.find((b"a", False), other) is None
    # They are not back when the policies are.
    assert known.find((b"a", False), policies) is None
    assert len(known) == 0


def test_the_oldest_go_when_there_are_too_many() -> None:
    known, now = KnownAnswers(most=2), (object(),)
    known.find((b"", False), now)
    for name in (b"a", b"b", b"a", b"c"):
        known.keep((name, False), now, ANSWER)
    assert len(known) == 2
    assert known.find((b"b", False), now) is None
