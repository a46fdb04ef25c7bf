import msgspec
import pytest
from nemutator_ctl.edits import WIDTH, ShownEdit, ShownObject, diff, one_line

RAW = {"path": "a.b", "before": ["1"], "after": [], "verb": "labels", "policy": "p", "reason": "r"}


def test_an_edit_is_read_and_shown_as_a_diff() -> None:
    edit = msgspec.convert(RAW, ShownEdit)
    assert edit == ShownEdit("a.b", ("1",), (), "p", "r")
    assert diff([edit]) == '  - a.b: "1"\n      by p: r\n'
    assert diff([ShownEdit("a", (), ({"x": None},))]) == '  + a: {"x": null}\n'
    assert diff([ShownEdit("a", (1,), (2,), "p")]) == "  - a: 1\n  + a: 2\n      by p\n"


def test_null_and_nothing_are_told_apart() -> None:
    assert (one_line(()), one_line((None,))) == ("(absent)", "null")


@pytest.mark.parametrize("raw", [None, [], {**RAW, "before": None}, {**RAW, "after": [1, 2]}, {}])
def test_what_is_no_edit_is_refused(raw: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(raw, ShownEdit)


def test_an_object_is_named_with_its_namespace_where_it_has_one() -> None:
    assert str(ShownObject("Deployment", "shop", "cart")) == "Deployment shop/cart"
    assert str(ShownObject("MutationPolicy", "", "owners")) == "MutationPolicy owners"


def test_a_strangers_value_cannot_draw_on_the_terminal() -> None:
    shown = diff([ShownEdit("a\x1b[2J", ("\x1b[2J" * 99,), ("x",), "p\n")])
    assert "\x1b" not in shown
    assert shown.count("\n") == 3
    assert all(len(line) <= WIDTH for line in shown.splitlines())
