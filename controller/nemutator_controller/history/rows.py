"""Which container has which row, and which makes room for another."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.row_keys import RowKey

SPARED_S = 3600.0
"""A row that was reported so recently makes no room: one container too many would otherwise push each row out
before it is reported again."""

NOBODY = -1
"""In the place of a row's number: nobody knows yet whose use it was."""
NO_ROOM = -2


NumberedKey = tuple[int, RowKey]


class Rows:
    """Numbers from 0 to *most* for keys. A number that is free again goes to another key."""

    def __init__(self, *, most: int) -> None:
        self.most = most
        self.numbers: dict[RowKey, int] = {}
        self.heard_at: npt.NDArray[np.float64] = np.full(most, np.inf)
        """By the brain's clock; infinite where there is no row."""
        self.used = 0
        """Rows from here on have never been used."""
        self.changes = 0
        """It rises whenever a number stops to belong to its key."""
        self._keys: dict[int, RowKey] = {}
        self._free: list[int] = []
        self._begun: set[int] = set()
        """Numbers that belong to somebody else than when they were saved."""
        self._gone: set[int] = set()
        """Numbers that were saved as somebody's, and are nobody's."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def room(self) -> int:
        """How many can begin before one makes room for another."""
        return len(self._free) + self.most - self.used

    def key(self, number: int) -> RowKey | None:
        return self._keys.get(number)

    def items(self) -> Iterator[tuple[int, RowKey]]:
        yield from self._keys.items()

    def begin(self, key: RowKey, *, now: float) -> tuple[int, bool]:
        """A number for a new *key* (`NO_ROOM`: there is none), and whether another row made room for it."""
        if self._free:
            return self.take(self._free.pop(), key, now=now), False
        if self.used < self.most:
            return self.take(self.used, key, now=now), False
        oldest = int(self.heard_at.argmin())
        if self.heard_at[oldest] > now - SPARED_S:
            return NO_ROOM, False
        self.drop(oldest)
        return self.take(self._free.pop(), key, now=now), True

    def take(self, number: int, key: RowKey, *, now: float) -> int:
        """Give *number*, which is free, to *key*."""
        self.numbers[key] = number
        self._keys[number] = key
        self._begun.add(number)
        self._gone.discard(number)
        self.heard_at[number] = now
        self.used = max(self.used, number + 1)
        return number

    def drop(self, number: int) -> None:
        del self.numbers[self._keys.pop(number)]
        self.heard_at[number] = np.inf
        self._free.append(number)
        self._begun.discard(number)
        self._gone.add(number)
        self.changes += 1

    def silent(self, *, since: float) -> list[int]:
        """The rows that were not reported since then."""
        return [int(number) for number in np.flatnonzero(self.heard_at[: self.used] < since)]

    def begun(self) -> list[NumberedKey]:
        """The rows that are not saved as they are."""
        return [(number, self._keys[number]) for number in sorted(self._begun)]

    def gone(self) -> list[int]:
        return sorted(self._gone)

    def saved(self, rows: Sequence[NumberedKey], gone: Iterable[int]) -> None:
        """These are saved; what has become somebody else's meanwhile is not."""
        self._begun.difference_update(
            number for number, key in rows if self._keys.get(number) == key
        )
        self._gone.difference_update(gone)

    def settle_free(self) -> None:
        """After rows were taken by their numbers: those between them are free."""
        self._free = [number for number in range(self.used) if number not in self._keys]
