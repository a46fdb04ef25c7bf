"""Lists in pages: an order, a filter, and a token that says where the next page begins."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")

LONGEST_TOKEN = 2048
"""In characters: two names of 253 and a number need 900 at most."""

Position = tuple[float, tuple[str, ...]]
"""What an item is ordered by: a number, the largest first, then its name."""


class TokenError(ValueError):
    """The text is no token of such a list."""


class _Token(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    order: str
    value: float
    name: tuple[str, ...]


_TOKENS = msgspec.json.Decoder(_Token)


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    items: Sequence[T]
    next: str
    """The token of the next page; empty on the last one."""
    remaining: int


def page_of(
    items: Sequence[T],
    position: Callable[[T], Position],
    *,
    order: str,
    limit: int | None,
    after: str,
) -> ListPage[T]:
    """*items* in their order, from where the page *after* another one begins.

    Numbers may have changed between two pages: an item that has moved past the border meanwhile is missed, or
    comes twice. Raises TokenError.
    """
    found = sorted(((_ascending(position(one)), one) for one in items), key=lambda pair: pair[0])
    begin = 0
    if after:
        border = _ascending(_read(after, order))
        begin = _first_after([key for key, _ in found], border)
    end = len(found) if limit is None else min(len(found), begin + limit)
    token = _written(order, position(found[end - 1][1])) if begin < end < len(found) else ""
    return ListPage([one for _, one in found[begin:end]], token, len(found) - end)


def _ascending(position: Position) -> Position:
    return -position[0], position[1]


def _first_after(keys: Sequence[Position], border: Position) -> int:
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] <= border:
            low = middle + 1
        else:
            high = middle
    return low


def _written(order: str, position: Position) -> str:
    encoded = msgspec.json.encode(_Token(order, *position))
    return base64.urlsafe_b64encode(encoded).decode().rstrip("=")


def _read(text: str, order: str) -> Position:
    if len(text) > LONGEST_TOKEN or not text.isascii():
        raise TokenError("it is no token of ours")
    try:
        token = _TOKENS.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise TokenError("it is no token of ours") from error
    if token.order != order:
        raise TokenError("it is of a list in another order")
    return token.value, token.name
