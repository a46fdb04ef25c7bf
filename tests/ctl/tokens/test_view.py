"""Tokens on a terminal."""

from typing import Any

from nemutator_ctl.tokens.view import changed, decode, overview, trial

TEAM = {"key": "nemu_label_value_a", "value": "shop", "place": "a label's value", "fault": ""}
BAD = {"key": "nemu_label_b", "value": "a b", "place": "a label's key", "fault": "does not fit"}


def document(*items: Any, **changed: Any) -> dict[str, Any]:
    return {
        "source": "file /t.json",
        "read": True,
        "age_s": 1.6,
        "problem": "",
        "count": len(items),
        "left_out": {},
        "items": list(items),
    } | changed


def test_a_list_says_where_tokens_are_kept_and_how_old_they_are() -> None:
    assert overview(decode(document(TEAM, BAD, count=3, left_out={"value": 2}))) == (
        "file /t.json: 3 tokens, as of 2 s ago\n"
        "  left out: 2 (value)\n"
        "KEY                  VALUE   STANDS FOR        FAULT\n"
        "nemu_label_value_a   shop    a label's value\n"
        "nemu_label_b         a b     a label's key     does not fit\n"
        "and 1 more: --limit 3\n"
    )


def test_a_store_that_cannot_be_read_says_why() -> None:
    shown = decode(document(read=False, problem="nobody\nanswers"))
    assert overview(shown) == "file /t.json: not read yet\n  not read now: nobody\\nanswers\n"
    assert overview(decode(document(source=""))).startswith("there is no token store")


def test_one_token_is_tried() -> None:
    assert trial("nemu_label_value_a", decode(document(TEAM))) == (
        'file /t.json: 1 token, as of 2 s ago\nnemu_label_value_a: "shop" for a label\'s value\n',
        True,
    )
    text, found = trial("nemu_label_b", decode(document(BAD)))
    assert not found
    assert text.endswith('nemu_label_b: "a b" for a label\'s key: does not fit\n')
    text, found = trial("nemu_x", decode(document()))
    assert (found, text.splitlines()[1]) == (False, "nemu_x: there is no such token")


def test_what_was_changed_is_shown() -> None:
    assert changed(TEAM, removed=False) == 'nemu_label_value_a: "shop" for a label\'s value\n'
    assert changed(TEAM, removed=True) == "nemu_label_value_a: removed\n"
