import msgspec
import pytest
from nemutator_common.wire import StreamBatch
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.records import (
    MOST_RECORDS,
    check_records,
    decode_records,
)


def batch(first: int = 1, count: int = 1, *, writer: str = "n1", epoch: str = "e") -> StreamBatch:
    return StreamBatch(writer, epoch, first, tuple({"n": first + i} for i in range(count)))


def test_a_batch_is_read_as_the_wire_describes_it() -> None:
    assert decode_records(msgspec.json.encode(batch(3, 2))) == batch(3, 2)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"\xff", b"[" * 60_000, b'{"writer": "n", "epoch": "e", "first": 1}']
)
def test_what_is_no_batch_is_refused(body: bytes) -> None:
    with pytest.raises(RefusedBatchError) as refusal:
        decode_records(body)
    assert refusal.value.reason == "malformed"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (batch(writer=""), "text"),
        (batch(writer="a b"), "text"),
        (batch(writer="x" * 254), "text"),
        (batch(epoch="../e"), "text"),
        (batch(count=0), "bounds"),
        (batch(count=MOST_RECORDS + 1), "bounds"),
        (batch(first=0), "order"),
        (batch(first=2**60), "order"),
    ],
)
def test_what_is_out_of_bounds_is_refused(given: StreamBatch, reason: str) -> None:
    with pytest.raises(RefusedBatchError) as refusal:
        check_records(given)
    assert refusal.value.reason == reason


def test_the_largest_batch_is_taken() -> None:
    check_records(batch(count=MOST_RECORDS))
