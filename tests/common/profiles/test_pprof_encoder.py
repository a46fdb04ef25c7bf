import dataclasses
import gzip
from typing import Any

import pytest
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Binary, Frame, FrameTable, Profile, Weighed
from nemutator_common.profiles.pprof_decoder import (
    MalformedProfileError,
    decode,
    decode_any,
    decode_off_cpu,
)
from nemutator_common.profiles.pprof_encoder import (
    HEAP_VALUES,
    OFF_CPU,
    encode,
    encode_heap,
    encode_nanoseconds,
)
from nemutator_common.profiles.pprof_messages import messages

from tests.common.profiles.made import KERNEL, MAIN, small


def parsed(profile: Profile) -> Any:
    return messages().Profile.FromString(gzip.decompress(encode(profile)))


def test_an_inlined_frame_is_a_line_of_its_callers_location() -> None:
    rows = map(messages().Location.FromString, parsed(small()).location)
    assert sorted(len(row.line) for row in rows) == [1, 1, 2]


def test_a_sample_has_its_count_and_its_time() -> None:
    rows = map(messages().Sample.FromString, parsed(small()).sample)
    assert [list(row.value) for row in rows] == [[6, 60_000_000], [3, 30_000_000], [1, 10_000_000]]


def test_its_times_are_in_nanoseconds() -> None:
    profile = small()
    written = parsed(profile)
    assert written.time_nanos == round(profile.started_at * 1e9)
    assert written.duration_nanos == round(profile.seconds * 1e9)
    assert written.period == round(1e9 / profile.hz)


def test_a_function_says_where_it_begins() -> None:
    rows = map(messages().Function.FromString, parsed(small()).function)
    assert sorted(row.start_line for row in rows if row.start_line) == [8, 18, 29]


APP = Binary("/srv/app", "c0ffee", 0x401000, 0x480000, 0x1000)
LIBC = Binary("/lib/libc.so.6", "", 0x28000, 0x1BD000, 0x28000)


def of(*stacks: tuple[tuple[Frame, ...], int]) -> Profile:
    table = FrameTable()
    numbered = tuple((tuple(map(table.number, stack)), count) for stack, count in stacks)
    return dataclasses.replace(small(), frames=table.frames, stacks=numbered, notes=())


def strings(profile: Profile) -> list[str]:
    return [one.decode() for one in parsed(profile).string_table]


def mappings(profile: Profile) -> list[dict[str, object]]:
    """What is set in each, with the texts in place of their numbers."""
    texts = strings(profile)
    rows = map(messages().Mapping.FromString, parsed(profile).mapping)
    return [
        {
            field.name: texts[value] if field.name in ("filename", "build_id") else value
            for field, value in row.ListFields()
        }
        for row in rows
    ]


def test_a_binary_is_a_mapping_with_its_range_and_id() -> None:
    main = dataclasses.replace(MAIN, address=0x401234, binary=APP)
    (mapping,) = mappings(of(((main,), 1)))
    assert mapping == {
        "id": 1,
        "memory_start": 0x401000,
        "memory_limit": 0x480000,
        "file_offset": 0x1000,
        "filename": "/srv/app",
        "build_id": "c0ffee",
        "has_functions": True,
        "has_filenames": True,
        "has_line_numbers": True,
        "has_inline_frames": True,
    }


def test_a_binary_without_an_id_has_none() -> None:
    copy = Frame("memcpy", kind="native", binary=LIBC)
    (mapping,) = mappings(of(((copy,), 1)))
    assert "build_id" not in mapping
    assert strings(small())[0] == ""


def test_the_first_mapping_is_that_of_the_program() -> None:
    main = dataclasses.replace(MAIN, binary=APP)
    copy = Frame("memcpy", kind="native", binary=LIBC)
    profile = of(((KERNEL, copy, main), 90), ((KERNEL,), 500), ((copy,), 5), ((main,), 10))
    assert [one["filename"] for one in mappings(profile)] == [
        "/srv/app",
        "/lib/libc.so.6",
        "[kernel]",
    ]


def test_c_in_a_go_program_does_not_claim_to_have_lines() -> None:
    main = dataclasses.replace(MAIN, binary=APP)
    native = Frame("sqlite3_step", kind="native", binary=APP)
    go, c = mappings(of(((native, main), 1)))
    assert (go["filename"], c["filename"]) == ("/srv/app", "/srv/app")
    assert "has_filenames" in go
    assert "has_filenames" not in c


def test_mappings_say_that_nothing_is_left_to_look_up() -> None:
    assert all(mapping["has_functions"] for mapping in mappings(small()))


def test_no_name_can_end_its_line_or_draw_on_a_terminal() -> None:
    evil = Frame("main.\x1b[31m\nforged 100%\u202e", "a\r.go", 1, 1, "go")
    profile = dataclasses.replace(of(((evil,), 1)), notes=("a\nb",))
    assert {"main.\ufffd[31m\ufffdforged 100%\ufffd", "a\ufffd.go", "note a\ufffdb"} <= {
        *strings(profile)
    }


def test_a_line_names_its_function() -> None:
    profile = parsed(small())
    functions = {one.id for one in map(messages().Function.FromString, profile.function)}
    locations = map(messages().Location.FromString, profile.location)
    lines = [line.function_id for location in locations for line in location.line]
    assert functions == {*lines} == {*range(1, len(functions) + 1)}


def test_a_heap_has_the_values_that_go_itself_writes() -> None:
    heap = HeapProfile(
        started_at=5.0, rate=512, frames=(MAIN,), sites=(((0,), Allocated(4, 400, 3, 300)),)
    )
    written = messages().Profile.FromString(gzip.decompress(encode_heap(heap)))
    texts = [one.decode() for one in written.string_table]
    kinds = [messages().ValueType.FromString(row) for row in written.sample_type]
    assert tuple((texts[one.type], texts[one.unit]) for one in kinds) == HEAP_VALUES
    (sample,) = map(messages().Sample.FromString, written.sample)
    assert list(sample.value) == [4, 400, 3, 300]
    assert (texts[written.period_type.type], written.period) == ("space", 512)
    assert texts[written.default_sample_type] == "inuse_space"


WAITS = Weighed(
    frames=(MAIN,), stacks=(((0,), 7_000_000_000),), unit="nanoseconds", started_at=2.0,
    notes=("idle",), labels={"pod": "x"},
)  # fmt: skip


def test_time_off_the_cpu_comes_back_as_it_was() -> None:
    content = encode_nanoseconds(WAITS, seconds=10.0, kind=OFF_CPU)
    back = decode_off_cpu(content)
    (((frame,), time),) = back.stacks
    assert (back.frames[frame].function, time) == (MAIN.function, 7_000_000_000)
    assert (back.unit, back.started_at) == ("nanoseconds", 2.0)
    assert (back.notes, back.labels) == (("idle",), {"pod": "x"})
    assert decode_any(gzip.decompress(content)) == back


def test_time_off_the_cpu_is_taken_for_nothing_else() -> None:
    content = encode_nanoseconds(WAITS, seconds=10.0, kind=OFF_CPU)
    with pytest.raises(MalformedProfileError, match="of time off the CPU"):
        decode(content)
    for other in (encode(small()), encode_nanoseconds(WAITS, seconds=10.0)):
        with pytest.raises(MalformedProfileError, match="is not of time off the CPU"):
            decode_off_cpu(other)
