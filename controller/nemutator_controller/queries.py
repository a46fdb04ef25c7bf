"""What lists are asked with, read from the query of a request."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

USUAL_PAGE = 500
LARGEST_PAGE = 5_000
LONGEST_SEARCH = 200


class PageQueryError(ValueError):
    """What is wrong with a query."""


@dataclass(frozen=True, slots=True)
class AskedPage:
    """Which part of a list is wanted."""

    order: str
    limit: int | None
    """None: all of it."""
    after: str
    search: tuple[str, ...] = ()
    """Small letters: each is a part of a name."""


def asked_page(
    query: Mapping[str, str], *, orders: Collection[str], usual: int | None = USUAL_PAGE
) -> AskedPage:
    """`limit`, `continue`, `orderBy` and `search`; *usual* is the limit of who names none. Raises PageQueryError."""
    order, search = query.get("orderBy", "name"), query.get("search", "")
    if order not in orders:
        raise PageQueryError(f"orderBy: expected one of {', '.join(orders)}")
    limit = usual
    if (text := query.get("limit")) is not None:
        limit = limit_in(text, usual=USUAL_PAGE, most=LARGEST_PAGE)
        if limit is None:
            raise PageQueryError(f"limit: expected 1 to {LARGEST_PAGE}")
    if len(search) > LONGEST_SEARCH:
        raise PageQueryError(f"search: expected at most {LONGEST_SEARCH} characters")
    return AskedPage(order, limit, query.get("continue", ""), tuple(search.lower().split()))


def is_called(name: str, words: Collection[str]) -> bool:
    """Whether each of *words*, which are in small letters, is a part of *name*."""
    small = name.lower()
    return all(word in small for word in words)


def flag_in(text: str | None) -> bool | None:
    """Whether it is wanted: not without a word; None: neither true nor false."""
    return {None: False, "false": False, "true": True}.get(text)


def time_in(text: str | None, *, usual: float) -> float | None:
    """Seconds since 1970: *usual* without a word; None: no time."""
    try:
        found = usual if text is None else float(text)
    except ValueError:
        return None
    return None if math.isnan(found) else found


def limit_in(text: str | None, *, usual: int, most: int) -> int | None:
    """How many items are wanted: *usual* without a word; None: not a number from 1 to *most*."""
    if text is None:
        return usual
    known = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if known and 1 <= int(text) <= most else None
