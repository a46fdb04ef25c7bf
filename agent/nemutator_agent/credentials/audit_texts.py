"""Makes the texts of callers fit for a record, so that no text can keep a record from being made."""

import hashlib

from nemutator_common.wire import LONGEST_GRANT_TEXT

_DIGEST_HEX = 32
"""Digits of a SHA-256, enough to make it infeasible to find two texts with the same digest."""

_CUT = "\\…"
"""No escape begins like this, so a text that was cut differs from all that were not."""

_ROOM = LONGEST_GRANT_TEXT - len(_CUT) - _DIGEST_HEX


def fit(text: str) -> str:
    """*text* as printable text of at most `LONGEST_GRANT_TEXT` characters; no two become one.

    Characters that do not print are escaped, and so is the backslash: no text can contain a forged
    escape. Of a text that is too long the beginning is kept, with a digest of the whole.
    """
    if len(text) <= LONGEST_GRANT_TEXT and "\\" not in text and text.isprintable():
        return text
    written = [_written(character) for character in text[: LONGEST_GRANT_TEXT + 1]]
    if sum(map(len, written)) <= LONGEST_GRANT_TEXT:
        return "".join(written)
    shown = ""
    for one in written:
        # Whole escapes only: a part of one could be another text.
        if len(shown) + len(one) > _ROOM:
            break
        shown += one
    # Bytes that were not UTF-8 are lone surrogates in `str`.
    octets = text.encode("utf-8", "surrogatepass")
    return f"{shown}{_CUT}{hashlib.sha256(octets).hexdigest()[:_DIGEST_HEX]}"


def _written(character: str) -> str:
    if character.isprintable() and character != "\\":
        return character
    return character.encode("unicode_escape").decode()
