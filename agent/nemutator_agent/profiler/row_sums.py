"""Rows of a whole session, added up while it goes on, in bounded memory."""

from dataclasses import replace

from nemutator_agent.profiler.raw import RawRow

MOST_ROWS = 65_536
"""About 16 MiB: a minute of ten busy CPUs, were no two samples equal."""
MOST_FRAMES = 1_500_000
"""Of all stacks, each counted once: some 50 000 usual ones, which take about 16 MiB; those of a program
that forges them may take 60."""

_MOST_SHARED = 65_536
"""Addresses that are on several stacks are one number in memory."""


class RowSums:
    def __init__(self, *, most_rows: int = MOST_ROWS, most_frames: int = MOST_FRAMES) -> None:
        self._most_rows = most_rows
        self._most_frames = most_frames
        self._counts: dict[RawRow, int] = {}
        self._stacks: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._addresses: dict[int, int] = {}
        self._frames = 0
        self.lost = 0
        """The samples of rows that were too many."""

    def add(self, row: RawRow, count: int) -> None:
        """*row* itself says nothing of its count."""
        if row.thread and len(self._counts) >= self._most_rows // 2 and row not in self._counts:
            # Better that threads are one than that samples are lost.
            row = replace(row, thread=0)
        known = self._counts.get(row)
        if known is not None:
            self._counts[row] = known + count
            return
        frames = sum(
            len(stack) for stack in {row.user, row.kernel, row.waiting} if stack not in self._stacks
        )
        if len(self._counts) >= self._most_rows or self._frames + frames > self._most_frames:
            self.lost += count
            return
        shared = replace(
            row,
            user=self._shared(row.user),
            kernel=self._shared(row.kernel),
            waiting=self._shared(row.waiting),
        )
        self._counts[shared] = count

    def rows(self) -> tuple[RawRow, ...]:
        return tuple(replace(row, count=count) for row, count in self._counts.items())

    @property
    def recorded(self) -> int:
        return sum(self._counts.values())

    def _shared(self, stack: tuple[int, ...]) -> tuple[int, ...]:
        if stack in self._stacks:
            return self._stacks[stack]
        own = tuple(map(self._one, stack))
        self._frames += len(own)
        self._stacks[own] = own
        return own

    def _one(self, address: int) -> int:
        if len(self._addresses) < _MOST_SHARED:
            return self._addresses.setdefault(address, address)
        return self._addresses.get(address, address)
