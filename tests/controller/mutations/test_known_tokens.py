"""A placeholder has a value that fits, or a reason why not."""

import pytest
from nemutator_controller.mutations.known_tokens import KnownTokens, NoValueError, value_of

TOKENS = KnownTokens({"nemu_a": "one", "nemu_b": "nemu_a"})


def fits(_: str) -> str:
    return ""


def test_a_placeholder_is_a_key_of_the_store() -> None:
    assert value_of(TOKENS, "nemu_a", fits) == "one"


@pytest.mark.parametrize(
    ("placeholder", "expected", "why", "reason"),
    [
        ("nemu_x", "", "unknown", "the token store has no such key"),
        ("nemu_b", "", "unfit", "its value is a placeholder, too"),
        ("nemu_a", "a number", "unfit", "its value does not fit: expected a number"),
    ],
)
def test_what_has_no_value_says_why(placeholder: str, expected: str, why: str, reason: str) -> None:
    with pytest.raises(NoValueError) as raised:
        value_of(TOKENS, placeholder, lambda _: expected)
    assert (raised.value.why, str(raised.value)) == (why, reason)
    unresolved = raised.value.at("metadata.labels[team]", placeholder)
    assert str(unresolved) == f"metadata.labels[team]: {placeholder} stays as it is: {reason}"
