"""Reports that the brain does not have yet, each encoded once, within a bound."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import LARGEST_BATCH_BYTES, Report

_ENVELOPE_BYTES = 64
"""More than `{"seq":…,"report":…},` adds to a report, or the head of a batch to its envelopes."""

_HEAD_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Waiting:
    seq: int
    report: bytes


class Buffer:
    """Oldest first. When it is full the oldest go: what is now matters more than what was.

    A number that was dropped is never sent, so the brain sees in the gap that something was lost.
    """

    def __init__(self, *, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = min(most_bytes, LARGEST_BATCH_BYTES)
        self._waiting: deque[Waiting] = deque()
        self._last_seq = 0
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def last_seq(self) -> int:
        """The highest number that was given to a report, kept or not."""
        return self._last_seq

    def put(self, report: Report) -> int:
        """Keep *report* under the next number, and say how many were dropped to make room."""
        self._last_seq += 1
        encoded = msgspec.json.encode(report)
        if len(encoded) + _ENVELOPE_BYTES + _HEAD_BYTES > self._most_bytes:
            return 1
        self._waiting.append(Waiting(self._last_seq, encoded))
        self.size_bytes += len(encoded)
        dropped = 0
        while len(self._waiting) > self._most or self.size_bytes > self._most_bytes:
            self._drop_first()
            dropped += 1
        return dropped

    def first(self, *, most: int, most_bytes: int) -> tuple[Waiting, ...]:
        """The oldest, at least one if there is any, whose batch is within *most_bytes*."""
        taken: list[Waiting] = []
        size = _HEAD_BYTES
        for waiting in self._waiting:
            size += len(waiting.report) + _ENVELOPE_BYTES
            if taken and (len(taken) >= most or size > most_bytes):
                break
            taken.append(waiting)
        return tuple(taken)

    def forget(self, *, up_to: int) -> None:
        """Drop what the brain has, or will never take."""
        while self._waiting and self._waiting[0].seq <= up_to:
            self._drop_first()

    def _drop_first(self) -> None:
        self.size_bytes -= len(self._waiting.popleft().report)


def encode_batch(node: str, epoch: str, waiting: Iterable[Waiting]) -> bytes:
    """A `wire.Batch`; the reports are put in as they were encoded."""
    return msgspec.json.encode(
        {
            "node": node,
            "epoch": epoch,
            "envelopes": [{"seq": one.seq, "report": msgspec.Raw(one.report)} for one in waiting],
        }
    )
