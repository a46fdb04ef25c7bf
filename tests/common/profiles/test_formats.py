import contextlib
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles import folded, pprof
from nemutator_common.profiles.formats import decode_file
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Profile, Weighed, functions
from nemutator_common.profiles.pprof_decoder import LARGEST, MalformedProfileError
from nemutator_common.profiles.pprof_messages import messages

from tests.common.profiles.made import profiles, small


@given(profiles())
def test_pprof_is_read_compressed_or_not(profile: Profile) -> None:
    content = pprof.encode(profile)
    assert decode_file(content) == decode_file(gzip.decompress(content)) == pprof.decode(content)


def test_a_heap_is_known_by_what_it_counts() -> None:
    heap = HeapProfile(
        started_at=1.0, rate=9, frames=(Frame("main.keep"),), sites=(((0,), Allocated(1, 2, 1, 2)),)
    )
    read = decode_file(pprof.encode_heap(heap))
    assert isinstance(read, HeapProfile)
    assert read.total == heap.total


def test_folded_stacks_are_read() -> None:
    read = decode_file(folded.render(small()).encode())
    assert isinstance(read, Weighed)
    mine = {share.function: (share.flat, share.cumulative) for share in functions(small())}
    assert {share.function: (share.flat, share.cumulative) for share in functions(read)} == mine


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfmain;work 5\n",
        b"main;work\t5\n",
        b"main;work 5 \r\n",
        b"main;work 5",
    ],
)
def test_folded_stacks_are_read_as_editors_and_tools_leave_them(content: bytes) -> None:
    read = decode_file(content)
    assert [(one.function, one.flat) for one in functions(read)] == [("work", 5), ("main", 0)]


def test_names_of_bytes_that_are_no_text_are_read_as_far_as_they_are() -> None:
    read = decode_file(b"main;w\xffrk 5\n")
    assert [frame.function for frame in read.frames] == ["main", "w\ufffdrk"]


def another_kind(*kinds: tuple[str, str], shown: str = "", values: tuple[int, ...]) -> bytes:
    texts = ["", *(word for kind in kinds for word in kind), "main.lock", shown]
    raw = messages().Profile()
    for kind, unit in kinds:
        value_type = messages().ValueType(type=texts.index(kind), unit=texts.index(unit))
        raw.sample_type.append(value_type.SerializeToString())
    function = messages().Function(id=1, name=texts.index("main.lock"))
    location = messages().Location(id=1)
    location.line.add(function_id=1, line=3)
    raw.function.append(function.SerializeToString())
    raw.location.append(location.SerializeToString())
    sample = messages().Sample(location_id=[1], value=values)
    raw.sample.append(sample.SerializeToString())
    raw.string_table.extend(text.encode() for text in texts)
    raw.default_sample_type = texts.index(shown)
    written: bytes = raw.SerializeToString()
    return written


def test_other_kinds_weigh_what_their_tool_shows_first() -> None:
    contention = (("contentions", "count"), ("delay", "nanoseconds"))
    read = decode_file(another_kind(*contention, values=(2, 500)))
    assert isinstance(read, Weighed)
    assert (read.unit, read.stacks) == ("nanoseconds", (((0,), 500),))
    counted = decode_file(another_kind(*contention, shown="contentions", values=(2, 500)))
    assert isinstance(counted, Weighed)
    assert (counted.unit, counted.stacks) == ("contentions", (((0,), 2),))


def test_what_does_not_say_what_it_counts_is_refused() -> None:
    with pytest.raises(MalformedProfileError, match="does not say what it counts"):
        decode_file(another_kind(values=(1,)))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no stack is in it"),
        (b"a;b\n", "line 1 does not end with the weight"),
        (b"a;b 1\na;b -3\n", "line 2 does not end with the weight"),
        (b"a;b 99999999999999999999\n", "line 1 does not end with the weight"),
        (b"\xff" * 100, "a message in it is malformed"),
        (b"\x1f\x8bgarbage", "not compressed by gzip"),
        (gzip.compress(b"a" * (LARGEST + 1)), f"more than {LARGEST} bytes"),
        (b"a" * (LARGEST + 1), f"more than {LARGEST} bytes"),
    ],
)
def test_what_is_no_profile_is_refused_with_the_reason(content: bytes, why: str) -> None:
    with pytest.raises(MalformedProfileError, match=why):
        decode_file(content)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_profile_or_are_refused(content: bytes) -> None:
    with contextlib.suppress(MalformedProfileError):
        decode_file(content)
