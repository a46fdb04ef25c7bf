"""What lists are asked with, read from the query of a request."""


def limit_in(text: str | None, *, usual: int, most: int) -> int | None:
    """How many items are wanted: *usual* without a word; None: not a number from 1 to *most*."""
    if text is None:
        return usual
    known = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if known and 1 <= int(text) <= most else None
