"""Encodes waiting records as the batches of `wire.py`; each record is encoded already."""

from collections.abc import Callable, Sequence

import msgspec

Numbered = Sequence[tuple[int, bytes]]
"""Records with their numbers: at least one, in order."""

Encode = Callable[[str, str, Numbered], bytes]
"""Encodes a batch of a writer, in one of its epochs."""


def encode_reports(node: str, epoch: str, waiting: Numbered) -> bytes:
    """A `wire.Batch`."""
    return msgspec.json.encode(
        {
            "node": node,
            "epoch": epoch,
            "envelopes": [{"seq": seq, "report": msgspec.Raw(record)} for seq, record in waiting],
        }
    )


def encode_records(writer: str, epoch: str, waiting: Numbered) -> bytes:
    """A `wire.StreamBatch`; the numbers have no gap."""
    return msgspec.json.encode(
        {
            "writer": writer,
            "epoch": epoch,
            "first": waiting[0][0],
            "records": [msgspec.Raw(record) for _, record in waiting],
        }
    )


def without_gap(waiting: Numbered) -> Numbered:
    """The first records, as many of them as have consecutive numbers."""
    for index, (seq, _) in enumerate(waiting):
        if seq != waiting[0][0] + index:
            return waiting[:index]
    return waiting
