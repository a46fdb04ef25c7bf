"""Whose turn it is: reads that need not be made in every snapshot are spread over many."""

import math
from collections.abc import Collection


class Turns:
    """Each member about once in *every_s*; new ones at once, then those that waited longest."""

    def __init__(self, *, every_s: float) -> None:
        self._every_s = every_s
        # In the order of their last turn, which a dict keeps.
        self._last: dict[str, float] = {}
        self._asked: float | None = None

    def due(self, members: Collection[str], now: float) -> tuple[str, ...]:
        """Who of *members* is to be read at *now*; their turns are then taken. Others are forgotten."""
        there = members if isinstance(members, (set, frozenset, dict)) else set(members)
        for gone in [one for one in self._last if one not in there]:
            del self._last[gone]
        new = [one for one in members if one not in self._last]
        elapsed_s = self._every_s if self._asked is None else max(now - self._asked, 0.0)
        self._asked = now
        share = min(1.0, elapsed_s / self._every_s)
        most = math.ceil(len(self._last) * share)
        waited = [one for one, _ in zip(self._last, range(most), strict=False)]
        for one in waited:
            del self._last[one]
        for one in (*waited, *new):
            self._last[one] = now
        return (*waited, *new)
