"""Records that the brain does not have yet, in memory, within a bound."""

from collections import deque

from nemutator_common.wire import LARGEST_BATCH_BYTES

_ENVELOPE_BYTES = 64
"""More than `{"seq":…,"report":…},` adds to a record, or a batch's head to its envelopes."""

_HEAD_BYTES = 1024


class Buffer:
    """A `RecordQueue` in memory. When it is full, it drops the oldest records: new ones count more.

    A number that was dropped is never sent, so the brain sees from the gap that it was lost.
    """

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = min(most_bytes, LARGEST_BATCH_BYTES)
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._last_seq = 0
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def last_seq(self) -> int:
        return self._last_seq

    def put(self, record: bytes) -> int:
        """Add *record* with the next number; returns how many were dropped to make room for it."""
        self._last_seq += 1
        if len(record) + _ENVELOPE_BYTES + _HEAD_BYTES > self._most_bytes:
            return 1
        self._waiting.append((self._last_seq, record))
        self.size_bytes += len(record)
        dropped = 0
        while len(self._waiting) > self._most or self.size_bytes > self._most_bytes:
            self._drop_first()
            dropped += 1
        return dropped

    def first(self, *, most: int, most_bytes: int) -> tuple[tuple[int, bytes], ...]:
        taken: list[tuple[int, bytes]] = []
        size = _HEAD_BYTES
        for seq, record in self._waiting:
            size += len(record) + _ENVELOPE_BYTES
            if taken and (len(taken) >= most or size > most_bytes):
                break
            taken.append((seq, record))
        return tuple(taken)

    def forget(self, *, up_to: int) -> None:
        while self._waiting and self._waiting[0][0] <= up_to:
            self._drop_first()

    def _drop_first(self) -> None:
        self.size_bytes -= len(self._waiting.popleft()[1])
