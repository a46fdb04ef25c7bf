import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.shipping.batches import encode_records, encode_reports, without_gap
from nemutator_common.wire import Batch, Envelope, StreamBatch

from tests.fakes.reports import report


def test_a_batch_of_reports_is_what_the_wire_says() -> None:
    waiting = [(1, msgspec.json.encode(report(1.0))), (3, msgspec.json.encode(report(2.0)))]
    decoded = msgspec.json.decode(encode_reports("node", "epoch", waiting), type=Batch)
    envelopes = (Envelope(1, report(1.0)), Envelope(3, report(2.0)))
    assert decoded == Batch("node", "epoch", envelopes)


def test_a_batch_of_records_is_what_the_wire_says() -> None:
    encoded = encode_records("node", "epoch", [(7, b'{"a": 1}'), (8, b"{}")])
    decoded = msgspec.json.decode(encoded, type=StreamBatch)
    assert decoded == StreamBatch("node", "epoch", 7, ({"a": 1}, {}))


@given(st.sets(st.integers(1, 30), min_size=1))
def test_what_is_sent_together_is_numbered_without_a_gap(numbers: set[int]) -> None:
    waiting = [(seq, b"{}") for seq in sorted(numbers)]
    taken = without_gap(waiting)
    assert taken == waiting[: len(taken)]
    assert [seq for seq, _ in taken] == list(range(waiting[0][0], waiting[0][0] + len(taken)))
    assert len(taken) == len(waiting) or waiting[len(taken)][0] > taken[-1][0] + 1
