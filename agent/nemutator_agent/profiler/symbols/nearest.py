"""Finds which of many unsorted symbols comes last before each of a few addresses, in one pass."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Generic, TypeVar

Address = TypeVar("Address", int, bytes)
Symbol = TypeVar("Symbol")


class Nearest(Generic[Address, Symbol]):
    """Keeps only one symbol for each wanted address, however many are offered."""

    def __init__(self, wanted: Sequence[Address]) -> None:
        """*wanted* is sorted, each address once."""
        self._wanted: Sequence[Address] = wanted
        self._best: list[tuple[Address, Symbol] | None] = [None] * len(wanted)

    def offer(self, address: Address, symbol: Symbol) -> None:
        place = bisect_left(self._wanted, address)
        if place < len(self._wanted):
            best = self._best[place]
            if best is None or address >= best[0]:
                self._best[place] = (address, symbol)

    def found(self) -> list[tuple[Address, Symbol] | None]:
        """The symbol for each wanted address: the one that begins last at or before it."""
        last = None
        found = []
        for best in self._best:
            last = best if best is not None else last
            found.append(last)
        return found
