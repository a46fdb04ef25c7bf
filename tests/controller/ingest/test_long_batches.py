import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.batches import MOST_ENVELOPES, RefusedBatchError, decode
from nemutator_controller.ingest.long_batches import LONGEST_REPORT_BYTES, decode_long

from tests.fakes.batches import batch, sequences


def refused(body: bytes) -> str:
    with pytest.raises(RefusedBatchError) as error:
        decode_long(body)
    return error.value.reason


@given(sequences)
def test_what_comes_out_is_what_comes_out_at_once(seqs: list[int]) -> None:
    body = msgspec.json.encode(batch(seqs))
    assert decode_long(body) == decode(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    assert refused(body) == "malformed"


@pytest.mark.parametrize("report", [None, [], {}, 1, {"taken_at": "soon"}])
def test_what_is_no_report_is_refused(report: object) -> None:
    document = json.loads(msgspec.json.encode(batch((1, 2))))
    document["envelopes"][1]["report"] = report
    assert refused(json.dumps(document).encode()) == "malformed"


def test_one_envelope_too_many_is_refused_before_any_is_opened() -> None:
    empty = [{"seq": seq, "report": 0} for seq in range(MOST_ENVELOPES + 1)]
    assert refused(json.dumps({"node": "n", "epoch": "e", "envelopes": empty}).encode()) == "bounds"


def test_a_report_is_opened_up_to_its_bound() -> None:
    document = json.loads(msgspec.json.encode(batch((1,))))
    report = document["envelopes"][0]["report"]
    report["unknown to us"] = ""
    room = LONGEST_REPORT_BYTES - len(msgspec.json.encode(report))
    report["unknown to us"] = "x" * room
    body = msgspec.json.encode(document)
    assert decode_long(body) == batch((1,))
    assert refused(body.replace(b"xx", b"xxx", 1)) == "bounds"
