"""Reviews that say what an earlier one said, known by their bytes at the places where that one was looked through.

What differs between them has one length: of two reviews that are equally long and the same around those places, the one says
what the other says where there is such a thing at each of them. `review_texts.py` would find the same key, and look
through the whole review for it.
"""

import re
from typing import NamedTuple

from nemutator_controller.admission.review_texts import (
    TIME_BYTES,
    UID_BYTES,
    VOLUME_BYTES,
    Places,
    ReviewText,
    pieces_of,
)

MOST = 512
"""Reviews in memory, of 16 KiB at most."""

MOST_OF_A_LENGTH = 8
"""Each is compared with all of its length. Those of different workloads differ in their first bytes already."""

_UID = re.compile(rb"[0-9a-f-]{36}")
_TIME = re.compile(rb"[0-9]{4}-[0-9T:-]{14}Z")
_VOLUME = re.compile(rb"kube-api-access-[a-z0-9]{5}")


class _Known(NamedTuple):
    key: bytes
    pieces: list[tuple[int, bytes]]
    places: Places

    def in_(self, body: bytes) -> ReviewText | None:
        """What *body* says, which is as long, if it says this."""
        for at, piece in self.pieces:
            if not body.startswith(piece, at):
                return None
        at, times, volumes = self.places
        uid = _UID.fullmatch(body, at, at + UID_BYTES)
        if uid is None:
            return None
        for at in times:
            if _TIME.fullmatch(body, at, at + TIME_BYTES) is None:
                return None
        if volumes:
            volume = body[volumes[0] : volumes[0] + VOLUME_BYTES]
            if _VOLUME.fullmatch(volume) is None:
                return None
            for at in volumes[1:]:
                if not body.startswith(volume, at):
                    return None
        return ReviewText(self.key, uid[0].decode("ascii"), self.places)


class KnownTexts:
    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known: dict[int, list[_Known]] = {}
        """By length."""
        self._lengths: dict[bytes, int] = {}
        """By key, the oldest first."""

    def __len__(self) -> int:
        return len(self._lengths)

    def known_text(self, body: bytes) -> ReviewText | None:
        """As `text_of` of `review_texts.py`, with a key that is the same object each time, of which Python has the hash; None: it
        is not known here what *body* says."""
        for known in self._known.get(len(body), ()):
            text = known.in_(body)
            if text is not None:
                return text
        return None

    def keep(self, body: bytes, text: ReviewText) -> None:
        """*body* says *text*, as others will."""
        if text.places is None or text.key in self._lengths:
            return
        alike = self._known.setdefault(len(body), [])
        if len(alike) == MOST_OF_A_LENGTH:
            del self._lengths[alike.pop(0).key]
        alike.append(_Known(text.key, pieces_of(body, text.places), text.places))
        self._lengths[text.key] = len(body)
        if len(self._lengths) > self._most:
            self._forget(next(iter(self._lengths)))

    def _forget(self, key: bytes) -> None:
        length = self._lengths.pop(key)
        left = [each for each in self._known[length] if each.key != key]
        if left:
            self._known[length] = left
        else:
            del self._known[length]
