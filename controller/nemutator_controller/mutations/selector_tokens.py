"""What the token store says of keys of selectors, by the key itself, as the first nemutator had it."""

import re

from nemutator_controller.mutations.known_tokens import PREFIX, KnownTokens, NoValueError
from nemutator_controller.mutations.texts import is_label

KEYS = f"{PREFIX}selector_label_"
VALUES = f"{KEYS}value_"
LIST = f"{PREFIX}selectors_replace_list"

MOST = 16
"""Keys of the list."""


def listed(tokens: KnownTokens) -> list[str]:
    """The keys that are looked up; raises `NoValueError` when there is no such list."""
    text = tokens.values.get(LIST)
    if text is None:
        raise NoValueError("unknown", f"{LIST}: {tokens.without}")
    if expected := bad_list(text):
        raise NoValueError("unfit", f"{LIST}: its value does not fit: expected {expected}")
    return _words(text)


def found(tokens: KnownTokens, key: str) -> str | None:
    """The value of the token *key*; raises `NoValueError` for one that is a placeholder."""
    value = tokens.values.get(key)
    if value is not None and value.startswith(PREFIX):
        raise NoValueError("unfit", f"{key}: its value is a placeholder, too")
    return value


def bad_list(text: str) -> str:
    """What was expected in the place of *text*; empty: it is such a list."""
    words = _words(text)
    if 0 < len(words) <= MOST and all(is_label(word, "") for word in words):
        return ""
    return f"1 to {MOST} keys of labels with spaces or commas between"


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))
