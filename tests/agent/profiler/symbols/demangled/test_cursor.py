import pytest
from nemutator_agent.profiler.symbols.demangled.cursor import (
    COST,
    DEEPEST,
    LONGEST,
    MOST_STEPS,
    Cursor,
    NotMangledError,
    bounded,
)

from tests.agent.profiler.symbols.demangled.mangled import free


def test_it_reads_forwards_and_never_past_the_end() -> None:
    cursor = Cursor("3foo_Z", free)
    assert cursor.characters(cursor.number()) == "foo"
    assert (cursor.next, cursor.skip("x"), cursor.skip("_")) == ("_", False, True)
    assert (cursor.take(), cursor.next, cursor.ended) == ("Z", "", True)
    for read in (
        cursor.take,
        cursor.number,
        lambda: cursor.characters(1),
        lambda: cursor.expect("x"),
    ):
        with pytest.raises(NotMangledError):
            read()


def test_nesting_is_bounded_and_paid_for() -> None:
    paid: list[int] = []
    cursor = Cursor("", paid.append)
    for _ in range(DEEPEST):
        cursor.deeper()
    with pytest.raises(NotMangledError):
        cursor.deeper()
    assert paid == [COST] * (DEEPEST + 1)


def test_steps_are_bounded() -> None:
    cursor = Cursor("", free)
    for _ in range(MOST_STEPS):
        cursor.deeper()
        cursor.higher()
    with pytest.raises(NotMangledError):
        cursor.deeper()


def test_a_text_that_is_too_long_is_refused() -> None:
    assert bounded("x" * LONGEST)
    with pytest.raises(NotMangledError):
        bounded("x" * (LONGEST + 1))
