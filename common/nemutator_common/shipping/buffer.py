"""Records that the brain does not have yet, in memory, within a bound."""

import heapq
from collections import defaultdict, deque
from itertools import takewhile
from typing import NamedTuple

from nemutator_common.wire import LARGEST_BATCH_BYTES

_ENVELOPE_BYTES = 64
"""More than `{"seq":…,"report":…},` adds to a record, or a batch's head to its envelopes."""

_HEAD_BYTES = 1024

_MOST_STALE = 1024


class _Waiting(NamedTuple):
    record: bytes
    source: str


class Buffer:
    """A `RecordQueue` in memory. When it is full, it drops the oldest records of the source that has
    most bytes in it: new ones count more, and no source pushes out the records of others.

    A number that was dropped is never sent, so the brain sees from the gap that it was lost.
    """

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = min(most_bytes, LARGEST_BATCH_BYTES)
        self._waiting: dict[int, _Waiting] = {}
        self._numbers: defaultdict[str, deque[int]] = defaultdict(deque)
        """Of the records of each source, as they came."""
        self._bytes: defaultdict[str, int] = defaultdict(int)
        self._by_size: list[tuple[int, str]] = []
        """While the buffer is full, a heap of sources with the most that they may have, as negative numbers."""
        self._at_most: dict[str, int] = {}
        """The entry of each source that counts; those with other numbers are left over."""
        self._last_seq = 0
        self.size_bytes = 0
        self.dropped = 0
        """Records that were dropped to make room, or were too large."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def last_seq(self) -> int:
        return self._last_seq

    def put(self, record: bytes, *, source: str = "") -> int:
        """Add *record* with the next number; returns how many were dropped to make room for it."""
        self._last_seq += 1
        if len(record) + _ENVELOPE_BYTES + _HEAD_BYTES > self._most_bytes:
            self.dropped += 1
            return 1
        self._waiting[self._last_seq] = _Waiting(record, source)
        self._numbers[source].append(self._last_seq)
        self._bytes[source] += len(record)
        self.size_bytes += len(record)
        if self._by_size and self._bytes[source] > self._at_most.get(source, 0):
            self._at_most[source] = self._bytes[source]
            heapq.heappush(self._by_size, (-self._bytes[source], source))
        dropped = 0
        while len(self._waiting) > self._most or self.size_bytes > self._most_bytes:
            self._drop_first_of(self._largest())
            dropped += 1
        self.dropped += dropped
        return dropped

    def first(self, *, most: int, most_bytes: int) -> tuple[tuple[int, bytes], ...]:
        taken: list[tuple[int, bytes]] = []
        size = _HEAD_BYTES
        for seq, waiting in self._waiting.items():
            size += len(waiting.record) + _ENVELOPE_BYTES
            if taken and (len(taken) >= most or size > most_bytes):
                break
            taken.append((seq, waiting.record))
        return tuple(taken)

    def forget(self, *, up_to: int) -> None:
        self._by_size.clear()
        # All numbers at once: to find a dict's first key again and again, Python walks over those
        # that were deleted before it.
        for seq in tuple(takewhile(lambda seq: seq <= up_to, self._waiting)):
            self._drop_first_of(self._waiting[seq].source)

    def _largest(self) -> str:
        """The source that has most bytes. To look at all of them with each record would take longer the more
        pods there are, in the very hour in which the brain is away."""
        heap = self._by_size
        if not heap or len(heap) > _MOST_STALE + 2 * len(self._bytes):
            self._at_most = dict(self._bytes)
            heap[:] = [(-size, source) for source, size in self._bytes.items()]
            heapq.heapify(heap)
        while True:
            size, source = -heap[0][0], heap[0][1]
            current = self._bytes.get(source, 0)
            if size != self._at_most[source]:
                heapq.heappop(heap)
            elif size == current:
                return source
            else:
                self._at_most[source] = current
                heapq.heapreplace(heap, (-current, source))

    def _drop_first_of(self, source: str) -> None:
        numbers = self._numbers[source]
        size = len(self._waiting.pop(numbers.popleft()).record)
        self.size_bytes -= size
        self._bytes[source] -= size
        if not numbers:
            del self._numbers[source], self._bytes[source]
