"""Profiles that lie: each is read or refused, and never takes more than was set aside for it."""

import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles import pprof_reading
from nemutator_common.profiles.pprof_reading import MalformedProfileError, decode
from nemutator_common.profiles.pprof_writing import encode
from nemutator_common.protobuf import Message

from tests.common.profiles.made import small

TRUE = encode(small())
RAW = gzip.decompress(TRUE)


def read(raw: bytes) -> None:
    with contextlib.suppress(MalformedProfileError):
        decode(gzip.compress(raw))


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
    bomb = gzip.compress(bytes(pprof_reading.LARGEST + 1))
    with pytest.raises(MalformedProfileError, match="more than"):
        decode(bomb)


def with_stacks(lines: int, stacked: int) -> bytes:
    message = Message()
    for string in (b"", b"f"):
        message.message(6, string)
    function = Message()
    function.number(1, 1)
    function.number(2, 1)
    message.message(5, function.encoded())
    location = Message()
    location.number(1, 1)
    for _ in range(lines):
        line = Message()
        line.number(1, 1)
        location.message(4, line.encoded())
    message.message(4, location.encoded())
    sample = Message()
    sample.packed(1, [1] * stacked)
    sample.packed(2, [1])
    message.message(2, sample.encoded())
    message.number(12, 1_000_000)
    return gzip.compress(message.encoded())


def test_few_bytes_cannot_become_many_frames() -> None:
    assert len(decode(with_stacks(10, 10)).stacks[0][0]) == 100
    with pytest.raises(MalformedProfileError, match="frames"):
        decode(with_stacks(1000, 10_000))
    with pytest.raises(MalformedProfileError, match="lines"):
        decode(with_stacks(5000, 1))


def test_too_many_rows_are_refused() -> None:
    message = Message()
    message.message(5, b"")
    with pytest.raises(MalformedProfileError, match="functions"):
        decode(gzip.compress(message.encoded() * (pprof_reading.MOST_ENTRIES + 1)))


def test_anothers_profile_is_read_without_our_comments() -> None:
    profile = decode(with_stacks(2, 1))
    assert profile.recorded == 1
    assert profile.hz == 1000
    assert [frame.inlined for frame in profile.frames] == [True, False]
    assert profile.lost == {}
