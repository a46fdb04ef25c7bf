"""What lists are asked with, read from the query of a request."""

import math


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
