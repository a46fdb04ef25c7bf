"""Reads the text of a path, as `str()` of a `Path` writes it and people do in policies."""

import functools
import json
import re
from collections.abc import Iterator

from nemutator_controller.mutations.paths import (
    DEEPEST,
    PLAIN,
    WRITTEN,
    FieldStep,
    ItemStep,
    Json,
    KeyStep,
    Path,
    PathError,
    Step,
    canonical,
)

LONGEST = 2048
"""Characters. A label's key has at most 317."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_JSON = json.JSONDecoder()


def parse_path(text: str) -> Path:
    """The path that `str()` writes as *text*."""
    return WRITTEN.get(text) or read_path(text)


@functools.lru_cache(maxsize=1024)
def read_path(text: str) -> Path:
    """The same for a text that was not written a moment before."""
    if len(text) > LONGEST:
        raise PathError(f"{text[:40]!r}…: longer than {LONGEST} characters")
    steps = tuple(_steps(text))
    if len(steps) > DEEPEST:
        raise PathError(f"{text[:40]!r}…: deeper than {DEEPEST}")
    return Path(steps)


def _steps(text: str) -> Iterator[Step]:
    word = _WORD.match(text)
    if word is None:
        raise PathError(f"{text[:80]!r}: expected the name of a field at its beginning")
    yield FieldStep(word[0])
    at = word.end()
    while at < len(text):
        if text[at] == ".":
            word = _WORD.match(text, at + 1)
            if word is None:
                raise _unexpected(text, at + 1, "the name of a field")
            yield FieldStep(word[0])
            at = word.end()
        elif text[at] == "[":
            step, at = _bracketed(text, at + 1)
            yield step
        else:
            raise _unexpected(text, at, "'.' or '['")


def _bracketed(text: str, at: int) -> tuple[Step, int]:
    if text[at : at + 1] == "=":
        try:
            item, end = _JSON.raw_decode(text, at + 1)
        except (ValueError, RecursionError):
            raise _unexpected(text, at + 1, "an item as JSON") from None
        if text[end : end + 1] != "]":
            raise _unexpected(text, end, "']'")
        if _is_deeper(item, DEEPEST):
            raise PathError(f"{text[:40]!r}…: an item deeper than {DEEPEST}")
        return ItemStep("", canonical(item)), end + 1
    first, quoted, at = _text(text, at)
    step: Step = KeyStep(first)
    if text[at : at + 1] == "=" and not quoted:
        value, _, at = _text(text, at + 1)
        step = ItemStep(first, value)
    if text[at : at + 1] != "]":
        raise _unexpected(text, at, "']'")
    return step, at + 1


def _text(text: str, at: int) -> tuple[str, bool, int]:
    if text[at : at + 1] == '"':
        try:
            value, end = _JSON.raw_decode(text, at)
        except ValueError:
            raise _unexpected(text, at, "a string in quotes") from None
        return str(value), True, end
    plain = PLAIN.match(text, at)
    if plain is None:
        raise _unexpected(text, at, "a name")
    return plain[0], False, plain.end()


def _is_deeper(item: Json, most: int) -> bool:
    """Whether lists and maps in *item* are within each other more than *most* times."""
    layer = [item]
    for _ in range(most):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(each, dict | list) for each in layer)


def _unexpected(text: str, at: int, wanted: str) -> PathError:
    return PathError(f"{text[:80]!r}: expected {wanted} at character {at + 1}")
