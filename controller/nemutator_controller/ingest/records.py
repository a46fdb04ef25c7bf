"""From a stranger's bytes to a `StreamBatch` within bounds; its records are the stream's business."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import StreamBatch

from nemutator_controller.access.callers import is_name
from nemutator_controller.ingest.batches import (
    LARGEST_NUMBER,
    RefusedBatchError,
    is_epoch,
)

MOST_RECORDS = 1_000

_decoder = msgspec.json.Decoder(StreamBatch)


@dataclass(frozen=True, slots=True)
class StoredRecords:
    """What one batch changed."""

    before: int
    """The number up to which this epoch was stored already."""
    seq: int
    """And up to which it is now."""
    fresh: int
    """How many records were new."""

    @property
    def lost(self) -> int:
        """Numbers that were never sent: the writer had to drop them."""
        return self.seq - self.before - self.fresh


def decode_records(body: bytes) -> StreamBatch:
    """The batch in *body*; fields that this version does not know are ignored."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedBatchError("malformed", f"not a batch: {str(error)[:200]}") from error


def check_records(batch: StreamBatch) -> None:
    """Refuse *batch* unless its frame is within bounds."""
    if not is_name(batch.writer):
        raise RefusedBatchError("text", "writer: expected letters, digits, dots and dashes")
    if not is_epoch(batch.epoch):
        raise RefusedBatchError("text", "epoch: expected up to 64 letters, digits, _ and -")
    if not 0 < len(batch.records) <= MOST_RECORDS:
        raise RefusedBatchError("bounds", f"records: expected 1 to {MOST_RECORDS}")
    if not 0 < batch.first <= LARGEST_NUMBER:
        raise RefusedBatchError("order", "first: expected a number above 0")


def fresh_records(batch: StreamBatch, *, after: int) -> Sequence[dict[str, object]]:
    """Those of *batch* whose number is above *after*."""
    return batch.records[max(0, after + 1 - batch.first) :]
