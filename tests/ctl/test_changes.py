import pytest
from nemutator_ctl.changes import WIDTH, Change, change_of, diff, maybe, said

RAW = {"path": "a.b", "before": ["1"], "after": [], "verb": "labels", "policy": "p", "reason": "r"}


def test_an_edit_is_read_and_shown_as_a_diff() -> None:
    change = change_of(RAW)
    assert change == Change("a.b", ("1",), (), "p", "r")
    assert diff([change]) == '  - a.b: "1"\n      by p: r\n'
    assert diff([Change("a", (), ({"x": None},))]) == '  + a: {"x": null}\n'
    assert diff([Change("a", (1,), (2,), "p")]) == "  - a: 1\n  + a: 2\n      by p\n"


def test_null_and_nothing_are_told_apart() -> None:
    assert (said(()), said((None,))) == ("(absent)", "null")


@pytest.mark.parametrize("raw", [None, [], {**RAW, "before": None}, {**RAW, "after": [1, 2]}, {}])
def test_what_is_no_edit_is_refused(raw: object) -> None:
    with pytest.raises((TypeError, KeyError)):
        change_of(raw)
    with pytest.raises(TypeError):
        maybe("x")


def test_a_strangers_value_cannot_draw_on_the_terminal() -> None:
    shown = diff([Change("a\x1b[2J", ("\x1b[2J" * 99,), ("x",), "p\n")])
    assert "\x1b" not in shown
    assert shown.count("\n") == 3
    assert all(len(line) <= WIDTH for line in shown.splitlines())
