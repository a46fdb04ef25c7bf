"""Strangers' bytes as clean text, which can be printed anywhere."""

import hashlib

_DIGEST_CHARACTERS = 8


def clean(raw: bytes | str, *, longest: int) -> str:
    """*raw* as printable text of at most *longest* characters; what cannot be printed is escaped.

    Text that is too long ends in a digest of the whole, so that two long names that begin alike do
    not become one.
    """
    # A file name that is not UTF-8 comes as a str with surrogates: back to what it was.
    octets = raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else raw
    # A character has at most four bytes, so what is cut here would not be shown anyway.
    text = octets[: 4 * longest + 4].decode("utf-8", "backslashreplace")
    if not text.isprintable():
        text = "".join(map(_escaped, text))
    if len(text) <= longest:
        return text
    digest = hashlib.blake2b(octets, digest_size=_DIGEST_CHARACTERS // 2).hexdigest()
    return f"{text[: longest - _DIGEST_CHARACTERS - 1]}~{digest}"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()
