"""Records come back whole, up to the first that is not."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.frames import LARGEST, NotSavedError, frame, frames_in

records = st.lists(st.binary(min_size=1, max_size=40), max_size=6)


def read(content: bytes) -> list[bytes]:
    return [content[begin:end] for begin, end in frames_in(content)]


@given(records)
def test_what_is_written_is_read(written: list[bytes]) -> None:
    assert read(b"".join(map(frame, written))) == written


@given(records, st.data())
def test_a_torn_end_costs_the_last_record_only(written: list[bytes], data: st.DataObject) -> None:
    content = b"".join(map(frame, written))
    kept = read(content[: data.draw(st.integers(0, len(content)))])
    assert written[: len(kept)] == kept


@given(records, st.data())
def test_damage_is_never_a_record(written: list[bytes], data: st.DataObject) -> None:
    content = bytearray(b"".join(map(frame, written)))
    if content:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    kept = read(bytes(content))
    assert written[: len(kept)] == kept


@given(st.binary(max_size=64))
def test_garbage_ends_the_reading(content: bytes) -> None:
    assert len(read(content)) <= 7


def test_zeros_are_no_records() -> None:
    assert read(bytes(4096)) == []


@pytest.mark.parametrize("record", [b"", bytes(LARGEST + 1)])
def test_what_could_not_be_read_back_is_not_written(record: bytes) -> None:
    with pytest.raises(ValueError, match="a record of"):
        frame(record)


def test_a_record_may_have_the_largest_size() -> None:
    assert read(frame(bytes(LARGEST)) + frame(b"x")) == [bytes(LARGEST), b"x"]


def test_a_length_above_the_largest_is_damage() -> None:
    whole = struct.pack(">II", LARGEST + 1, zlib.crc32(bytes(LARGEST + 1))) + bytes(LARGEST + 1)
    assert read(whole) == []


def test_why_a_record_was_not_kept_has_a_word_for_the_metric() -> None:
    assert NotSavedError("disk", "it is full").reason == "disk"
