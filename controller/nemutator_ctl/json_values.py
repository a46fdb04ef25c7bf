"""Parts of a decoded JSON document with the type that they must have, or a TypeError.

What takes a document apart turns that into one message for people: `answers.not_understood`.
"""

from collections.abc import Mapping
from typing import Any


def mapping(raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise TypeError("not an object")
    return raw


def items(raw: object) -> list[Any]:
    if not isinstance(raw, list):
        raise TypeError("not a list")
    return raw


def number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not abs(raw) < 1e18:
        raise TypeError("not a number")
    return float(raw)


def text_or_none(raw: object) -> str | None:
    return None if raw is None else str(raw)
