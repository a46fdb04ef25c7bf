"""Strangers' texts as a record may carry them: no text may cost us the record of what was done."""

import hashlib

from nemutator_common.wire import LONGEST_GRANT_TEXT

_DIGEST_HEX = 32
"""Digits of a SHA-256: enough that nobody finds two texts with the same digest."""

_CUT = "\\…"
"""Escapes never begin like this, so what was cut differs from all that was not."""

_ROOM = LONGEST_GRANT_TEXT - len(_CUT) - _DIGEST_HEX


def fit(text: str) -> str:
    """*text* as printable text of at most `LONGEST_GRANT_TEXT` characters; no two become one.

    What does not print is escaped, as is the backslash, so that no text can contain a forged escape.
    Of what is too long the beginning stays, with a digest of the whole.
    """
    if len(text) <= LONGEST_GRANT_TEXT and "\\" not in text and text.isprintable():
        return text
    written = [_written(character) for character in text[: LONGEST_GRANT_TEXT + 1]]
    if sum(map(len, written)) <= LONGEST_GRANT_TEXT:
        return "".join(written)
    shown = ""
    for one in written:
        # Whole escapes only: half of one could be another text's.
        if len(shown) + len(one) > _ROOM:
            break
        shown += one
    # What was no UTF-8 stands in `str` as lone surrogates.
    octets = text.encode("utf-8", "surrogatepass")
    return f"{shown}{_CUT}{hashlib.sha256(octets).hexdigest()[:_DIGEST_HEX]}"


def _written(character: str) -> str:
    if character.isprintable() and character != "\\":
        return character
    return character.encode("unicode_escape").decode()
