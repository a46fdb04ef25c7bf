"""Tokens as they are shown: where each can stand, and why one would not."""

import pytest
from nemutator_controller.tokens.documents import (
    TokenDocument,
    TokenListDocument,
    document_of,
    listed,
)
from nemutator_controller.tokens.model import TokenTable


@pytest.mark.parametrize(
    ("key", "value", "place", "fault"),
    [
        ("nemu_label_a", "team", "a label's key", ""),
        ("nemu_label_value_a", "a b", "a label's value", "its value does not fit"),
        ("nemu_anno_a", "a b", "an annotation's key", "its value does not fit"),
        ("nemu_anno_value_a", "a b", "an annotation's value", ""),
        ("nemu_env_a", "clear", "a variable, from Vault", "expected a reference"),
        ("nemu_env_a", "secret/app/db#password", "a variable, from Vault", ""),
        ("nemu_a", "nemu_b", "a variable", "a placeholder, too"),
        ("nemu_image_nginx", "1.27", "an image of that name", ""),
        ("nemu_image_nginx", "a b", "an image of that name", "expected a tag"),
        ("nemu_selector_label_app", "name", "that key of selectors", ""),
        ("nemu_selector_label_value_app", "a b", "the value of that key of selectors", "fit"),
        ("nemu_selectors_replace_list", "app", "nowhere: it lists keys of selectors", ""),
        ("nemu_selectors_replace_list", "a!", "nowhere: it lists keys of selectors", "1 to 16"),
    ],
)
def test_each_key_has_its_place(key: str, value: str, place: str, fault: str) -> None:
    shown = document_of(key, value)
    assert (shown.key, shown.value, shown.place) == (key, value, place)
    assert fault in shown.fault
    assert bool(fault) is bool(shown.fault)


TABLE = TokenTable({"nemu_b": "2", "nemu_a": "1"}, {"key": 1})


def shown(table: TokenTable | None, *, key: str | None = None, limit: int = 5) -> TokenListDocument:
    return listed(table, source="memory", age_s=2.0, problem="away", key=key, limit=limit)


def test_a_list_has_the_first_by_key_or_one() -> None:
    first = shown(TABLE, limit=1)
    assert (first.source, first.count, first.left_out) == ("memory", 2, {"key": 1})
    assert (first.age_s, first.problem) == (2.0, "away")
    assert first.items == [TokenDocument("nemu_a", "1", "a variable", "")]
    assert [each.key for each in shown(TABLE, key="nemu_b").items] == ["nemu_b"]
    assert shown(TABLE, key="nemu_c").items == []


def test_what_was_never_read_says_so() -> None:
    assert (shown(TABLE).read, shown(None).read) == (True, False)
