"""Reviews that are the same byte for byte but for some texts.

A document in which a text without quotes and escapes stands in the place of another one is read as before but for that text:
so nobody decodes it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nemutator_controller.admission.json_texts import JsonText


class ReviewShape(NamedTuple):
    """One is known by it in some dozens of comparisons."""

    begin: bytes
    """All before the first text."""
    gaps: tuple[tuple[int, bytes, int], ...]
    """How long each text was, what is behind it, from its quote to the next text, and how much that is."""

    def texts_of(self, body: bytes) -> list[str] | None:
        """Those of *body* in the places of the others; None: it has another shape."""
        at, found = len(self.begin), []
        if body[:at] != self.begin:
            return None
        for size, behind, length in self.gaps:
            # Most are as long as the one before, and a look at that place costs a quarter of a search.
            end = at + size
            after = end + length
            if body[end:after] != behind:
                end = body.find(b'"', at)
                after = end + length
                if end < 0 or body[end:after] != behind:
                    return None
            found.append(body[at:end])
            at = after
        if at != len(body):
            return None
        try:
            joined = b'"'.join(found).decode("ascii")
        except UnicodeDecodeError:
            return None
        texts = joined.split('"')
        is_plain = joined.isprintable() and "\\" not in joined
        return texts if is_plain and len(texts) == len(found) else None


def shape_around(body: bytes, texts: Sequence[JsonText]) -> ReviewShape:
    """That of *body*, in which these are the texts that may be others."""
    ends = [each.first for each in texts[1:]] + [len(body)]
    gaps = [
        (each.end - each.first, body[each.end : end], end - each.end)
        for each, end in zip(texts, ends, strict=True)
    ]
    return ReviewShape(body[: texts[0].first], tuple(gaps))
