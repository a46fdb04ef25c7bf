"""Long bodies of JSON, opened report by report.

Whoever decodes has Python for himself until he is done, in a thread as well: of 7.4 MB at once for a fifth of a second. Between two reports
others have their turns.
"""

import msgspec
from nemutator_common.wire import Batch, Envelope, Report

from nemutator_controller.ingest.batches import MOST_ENVELOPES, RefusedBatchError, decoded

LONGEST_REPORT_BYTES = 2 << 20
"""One of a node with 110 pods and 2 000 processes has a quarter of that. An agent that has more to say sends columns, as all do that
a brain has told that it takes them."""


class _ClosedEnvelope(msgspec.Struct, frozen=True, gc=False):
    seq: int
    report: msgspec.Raw


class _ClosedBatch(msgspec.Struct, frozen=True):
    """A `Batch` whose reports are not read."""

    node: str
    epoch: str
    envelopes: tuple[_ClosedEnvelope, ...]


_closed = msgspec.json.Decoder(_ClosedBatch)
_report = msgspec.json.Decoder(Report)


def decode_long(body: bytes) -> Batch:
    """The same as `decode`, of reports that are not too long; raises `RefusedBatchError`."""
    closed = decoded(_closed, body)
    if len(closed.envelopes) > MOST_ENVELOPES:
        raise RefusedBatchError("bounds", f"envelopes: at most {MOST_ENVELOPES} are taken")
    return Batch(closed.node, closed.epoch, tuple(map(_opened, closed.envelopes)))


def _opened(closed: _ClosedEnvelope) -> Envelope:
    text = bytes(closed.report)
    if len(text) > LONGEST_REPORT_BYTES:
        what = f"report {closed.seq}: {len(text)} bytes of JSON, at most {LONGEST_REPORT_BYTES}"
        raise RefusedBatchError("bounds", f"{what} are taken: send columns")
    return Envelope(closed.seq, decoded(_report, text))
