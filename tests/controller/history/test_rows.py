from nemutator_controller.history.rows import NO_ROOM, SPARED_S, Rows

from tests.controller.history.points import NOW, key


def test_numbers_are_given_in_turn_and_again_when_they_are_free() -> None:
    rows = Rows(most=3)
    assert [rows.begin(key(name), now=NOW) for name in "ab"] == [(0, False), (1, False)]
    rows.drop(0)
    assert rows.begin(key("c"), now=NOW) == (0, False)
    assert (len(rows), rows.used) == (2, 2)
    assert dict(rows.items()) == {0: key("c"), 1: key("b")}


def test_the_one_that_was_silent_for_longest_makes_room_after_an_hour() -> None:
    rows = Rows(most=2)
    rows.begin(key("a"), now=NOW + 10)
    rows.begin(key("b"), now=NOW)
    assert rows.begin(key("c"), now=NOW + SPARED_S - 1) == (NO_ROOM, False)
    before = rows.changes
    assert rows.begin(key("c"), now=NOW + SPARED_S + 1) == (1, True)
    assert rows.changes > before
    assert rows.key(1) == key("c")


def test_what_has_to_be_saved_is_told_until_it_is() -> None:
    rows = Rows(most=2)
    rows.begin(key("a"), now=NOW)
    rows.begin(key("b"), now=NOW)
    begun = rows.begun()
    assert begun == [(0, key("a")), (1, key("b"))]
    rows.drop(1)
    rows.begin(key("c"), now=NOW)
    rows.saved(begun, [])
    assert (rows.begun(), rows.gone()) == ([(1, key("c"))], [])
    rows.drop(1)
    assert (rows.begun(), rows.gone()) == ([], [1])
    rows.saved([], [1])
    assert rows.gone() == []


def test_silent_rows_are_those_that_were_not_heard() -> None:
    rows = Rows(most=9)
    rows.begin(key("a"), now=NOW)
    rows.begin(key("b"), now=NOW + 5)
    assert rows.silent(since=NOW + 1) == [0]


def test_numbers_between_rows_that_were_taken_are_free() -> None:
    rows = Rows(most=5)
    rows.take(2, key("a"), now=NOW)
    rows.settle_free()
    assert {rows.begin(key(name), now=NOW)[0] for name in "bc"} == {0, 1}
    assert rows.begin(key("d"), now=NOW) == (3, False)
