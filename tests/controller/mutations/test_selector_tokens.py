"""The list of keys of selectors is kept short and made of labels' keys, and no value is a placeholder."""

import pytest
from nemutator_controller.mutations.known_tokens import KnownTokens, NoValueError
from nemutator_controller.mutations.selector_tokens import LIST, bad_list, found, listed


@pytest.mark.parametrize("text", ["app tier", "app,tier", " app,  tier app\n"])
def test_keys_are_listed_with_spaces_or_commas(text: str) -> None:
    assert listed(KnownTokens({LIST: text})) == ["app", "tier"]


@pytest.mark.parametrize(
    "text", ["", " ", "a/b/c", "not! one", " ".join(f"k{n}" for n in range(17))]
)
def test_what_is_no_list_is_named(text: str) -> None:
    assert bad_list(text)
    with pytest.raises(NoValueError, match="expected 1 to 16 keys"):
        listed(KnownTokens({LIST: text}))


def test_without_a_list_nothing_is_looked_up() -> None:
    with pytest.raises(NoValueError, match="has no such key"):
        listed(KnownTokens({}))


def test_a_value_is_no_placeholder() -> None:
    tokens = KnownTokens({"nemu_selector_label_a": "b", "nemu_selector_label_c": "nemu_d"})
    assert found(tokens, "nemu_selector_label_a") == "b"
    assert found(tokens, "nemu_selector_label_b") is None
    with pytest.raises(NoValueError, match="a placeholder"):
        found(tokens, "nemu_selector_label_c")
