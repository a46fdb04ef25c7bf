"""What a batch adds to what is stored of its epoch already."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nemutator_common.wire import Batch, Envelope, StreamBatch

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """What one batch changed."""

    before: int
    """The number up to which this epoch was stored already."""
    seq: int
    """The number up to which it is stored now."""
    fresh: Sequence[T]
    """What was new."""

    @property
    def lost(self) -> int:
        """Numbers that were never sent, because their sender had to drop them."""
        return self.seq - self.before - len(self.fresh)


def new_reports(batch: Batch, *, before: int) -> Stored[Envelope]:
    fresh = [envelope for envelope in batch.envelopes if envelope.seq > before]
    return Stored(before, fresh[-1].seq if fresh else before, fresh)


def new_records(batch: StreamBatch, *, before: int) -> Stored[dict[str, object]]:
    last = batch.first + len(batch.records) - 1
    return Stored(before, max(before, last), batch.records[max(0, before + 1 - batch.first) :])
