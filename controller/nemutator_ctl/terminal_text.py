"""Strangers' text on a terminal: a process chooses its own name, so it may not move the cursor."""

import unicodedata


def visible(text: str, *, limit: int) -> str:
    """*text* in at most *limit* columns, with everything that does not print written as an escape.

    What Unicode calls a format character (bidirectional overrides, joiners) does not print either.
    """
    # Cutting would drop the rest anyway; and this bounds marks that take no column.
    text = text[: 2 * limit]
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return clean if columns(clean) <= limit else _cut(clean, limit - 1) + "…"


def columns(text: str) -> int:
    """How many columns of a terminal *text* takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _cut(text: str, limit: int) -> str:
    taken = 0
    for index, character in enumerate(text):
        taken += _width(character)
        if taken > limit:
            return text[:index]
    return text


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
