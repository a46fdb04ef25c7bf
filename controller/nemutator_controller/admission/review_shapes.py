"""Reviews that are the same byte for byte but for some texts.

A document in which a text without quotes and escapes stands in the place of another one is read as before but for that text:
so nobody decodes it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nemutator_controller.admission.json_texts import JsonText

_PLAIN = re.compile("[ !#-\\[\\]-~\0]*")
"""Texts that stand in JSON as they are, joined."""


class ReviewShape(NamedTuple):
    """One is known by it in some twenty comparisons."""

    begin: bytes
    """All before the first text."""
    behind: tuple[bytes, ...]
    """What is behind each text, from its quote to the next text."""

    def texts_of(self, body: bytes) -> list[str] | None:
        """Those of *body* in the places of the others; None: it has another shape."""
        if not body.startswith(self.begin):
            return None
        at, found = len(self.begin), []
        find, is_at = body.find, body.startswith
        for piece in self.behind:
            end = find(b'"', at)
            if not is_at(piece, end):
                return None
            found.append(body[at:end])
            at = end + len(piece)
        if at != len(body):
            return None
        try:
            joined = b"\0".join(found).decode("ascii")
        except UnicodeDecodeError:
            return None
        texts = joined.split("\0")
        return texts if len(texts) == len(found) and _PLAIN.fullmatch(joined) else None


def shape_around(body: bytes, texts: Sequence[JsonText]) -> ReviewShape:
    """That of *body*, in which these are the texts that may be others."""
    ends = [each.first for each in texts[1:]] + [len(body)]
    behind = [body[each.end : end] for each, end in zip(texts, ends, strict=True)]
    return ReviewShape(body[: texts[0].first], tuple(behind))
