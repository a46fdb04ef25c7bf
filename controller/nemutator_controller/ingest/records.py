"""From a stranger's bytes to a `StreamBatch` within bounds; each stream checks its own records."""

import msgspec
from nemutator_common.wire import StreamBatch

from nemutator_controller.access.callers import is_name
from nemutator_controller.ingest.batches import (
    LARGEST_NUMBER,
    RefusedBatchError,
    decoded,
    is_epoch,
)

MOST_RECORDS = 1_000

_decoder = msgspec.json.Decoder(StreamBatch)


def decode_records(body: bytes) -> StreamBatch:
    """The batch in *body*; fields that this version does not know are ignored."""
    return decoded(_decoder, body)


def check_records(batch: StreamBatch) -> None:
    """Refuse *batch* unless all but its records is within bounds."""
    if not is_name(batch.writer):
        raise RefusedBatchError("text", "writer: expected letters, digits, dots and dashes")
    if not is_epoch(batch.epoch):
        raise RefusedBatchError("text", "epoch: expected up to 64 letters, digits, _ and -")
    if not 0 < len(batch.records) <= MOST_RECORDS:
        raise RefusedBatchError("bounds", f"records: expected 1 to {MOST_RECORDS}")
    if not 0 < batch.first <= LARGEST_NUMBER:
        raise RefusedBatchError("order", "first: expected a number above 0")
