"""Verdicts that are asked for again and again: kept for a while, longer when nobody can be asked.

Under digests of what was judged, so that a dump of this process opens nothing.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")

MOST = 20_000
"""Of 5 000 nodes with three processes each there are 15 000 tokens."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[V]):
    verdict: V
    at: float

    def is_younger(self, seconds: float, *, now: float) -> bool:
        return now - self.at < seconds


class Verdicts(Generic[V]):
    """The last verdict on each thing; the longest unused make room."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Kept[V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Hashable) -> Kept[V] | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def keep(self, key: Hashable, verdict: V, *, now: float) -> None:
        self._kept[key] = Kept(verdict, now)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()
