"""Profiles that lie: each is read or refused, and never takes more than was set aside for it."""

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles import pprof_decoder
from nemutator_common.profiles.pprof_decoder import (
    MalformedProfileError,
    decode,
    decode_heap,
    decode_off_cpu,
)
from nemutator_common.profiles.pprof_encoder import encode
from nemutator_common.profiles.pprof_messages import messages

from tests.common.profiles.made import small

TRUE = encode(small())
RAW = gzip.decompress(TRUE)


def read(raw: bytes) -> None:
    for one in (decode, decode_heap, decode_off_cpu):
        with contextlib.suppress(MalformedProfileError):
            one(gzip.compress(raw))


@given(st.integers(0, len(TRUE) - 1))
def test_cut_anywhere(end: int) -> None:
    with pytest.raises(MalformedProfileError):
        decode(TRUE[:end])


@given(st.lists(st.tuples(st.integers(0, len(RAW) - 1), st.integers(0, 255)), max_size=10))
def test_bytes_changed_anywhere(changes: list[tuple[int, int]]) -> None:
    forged = bytearray(RAW)
    for position, value in changes:
        forged[position] = value
    read(bytes(forged))


@given(st.binary(max_size=500))
def test_noise(noise: bytes) -> None:
    read(noise)
    read(RAW + noise)
    with contextlib.suppress(MalformedProfileError):
        decode(noise)


def test_what_swells_when_it_is_unpacked_is_refused() -> None:
    bomb = gzip.compress(bytes(pprof_decoder.LARGEST + 1))
    with pytest.raises(MalformedProfileError, match="more than"):
        decode(bomb)


def written(**rows: object) -> bytes:
    return gzip.compress(messages().Profile(**rows).SerializeToString())


def with_stacks(lines: int, stacked: int) -> bytes:
    kinds = messages()
    return written(
        string_table=[b"", b"f"],
        function=[kinds.Function(id=1, name=1).SerializeToString()],
        location=[kinds.Location(id=1, line=[{"function_id": 1}] * lines).SerializeToString()],
        sample=[kinds.Sample(location_id=[1] * stacked, value=[1]).SerializeToString()],
        period=1_000_000,
    )


def test_few_bytes_cannot_become_many_frames() -> None:
    assert len(decode(with_stacks(10, 10)).stacks[0][0]) == 100
    with pytest.raises(MalformedProfileError, match="frames"):
        decode(with_stacks(1000, 10_000))
    with pytest.raises(MalformedProfileError, match="lines"):
        decode(with_stacks(5000, 1))


@pytest.mark.parametrize("table", ["sample", "mapping", "location", "function", "string_table"])
def test_too_many_rows_are_refused(table: str) -> None:
    with pytest.raises(MalformedProfileError, match=f"{table}: more than"):
        decode(written(**{table: [b""] * (pprof_decoder.MOST_ENTRIES + 1)}))


def test_a_row_that_would_swell_is_not_even_parsed() -> None:
    empty_line = b"\x22\x00"
    row = empty_line * (pprof_decoder.LARGEST_ROW // 2 + 1)
    with pytest.raises(MalformedProfileError, match="location: a row of more than"):
        decode(written(location=[row]))


def test_a_row_that_is_no_message_is_refused() -> None:
    with pytest.raises(MalformedProfileError, match="malformed"):
        decode(written(string_table=[b""], function=[b"\xff"]))


@pytest.mark.parametrize("index", [-1, 1, 1 << 62])
def test_a_string_that_is_not_there_is_refused(index: int) -> None:
    function = messages().Function(id=1, name=index).SerializeToString()
    with pytest.raises(MalformedProfileError, match="there is no string"):
        decode(written(string_table=[b""], function=[function]))


@pytest.mark.parametrize("values", [[], [-1]])
def test_a_sample_without_a_count_is_refused(values: list[int]) -> None:
    sample = messages().Sample(value=values).SerializeToString()
    with pytest.raises(MalformedProfileError, match="without its count"):
        decode(written(string_table=[b""], sample=[sample], period=1))


def test_a_name_that_is_no_text_spoils_itself_alone() -> None:
    kinds = messages()
    profile = decode(
        written(
            string_table=[b"", b"main.\xff"],
            function=[kinds.Function(id=1, name=1, start_line=-3).SerializeToString()],
            location=[kinds.Location(id=1, line=[{"function_id": 1}]).SerializeToString()],
            sample=[kinds.Sample(location_id=[1], value=[1]).SerializeToString()],
            period=1_000_000,
        )
    )
    assert [(one.function, one.start_line) for one in profile.frames] == [("main.\ufffd", 0)]


def test_anothers_profile_is_read_without_our_comments() -> None:
    profile = decode(with_stacks(2, 1))
    assert profile.recorded == 1
    assert profile.hz == 1000
    assert [frame.inlined for frame in profile.frames] == [True, False]
    assert profile.lost == {}


def commented(comment: str) -> bytes:
    return written(string_table=[b"", comment.encode()], comment=[1], period=1_000_000)


@pytest.mark.parametrize("digits", ["0", "12", "9" * 19])
def test_a_count_in_a_comment_is_read(digits: str) -> None:
    assert decode(commented(f"recorded {digits}")).recorded == int(digits)
    assert decode(commented(f"lost map_busy={digits}")).lost == {"map_busy": int(digits)}


@pytest.mark.parametrize("digits", ["", "-1", "x", "\u0661", "\u00b2", "9" * 20])
def test_a_comment_without_its_count_is_refused(digits: str) -> None:
    with pytest.raises(MalformedProfileError, match="no count"):
        decode(commented(f"recorded {digits}"))
