import dataclasses
import gzip

from nemutator_common.profiles.model import Binary, Frame, FrameTable, Profile
from nemutator_common.profiles.pprof_writing import (
    FUNCTION,
    LOCATION,
    MAPPING,
    SAMPLE,
    STRINGS,
    encode,
)
from nemutator_common.protobuf import Field, fields, numbers

from tests.common.profiles.made import KERNEL, MAIN, small


def rows(number: int) -> list[list[Field]]:
    raw = gzip.decompress(encode(small()))
    return [list(fields(one.content)) for one in fields(raw) if one.number == number]


def test_an_inlined_frame_is_a_line_of_its_callers_location() -> None:
    lines = [sum(field.number == 4 for field in row) for row in rows(LOCATION)]
    assert sorted(lines) == [1, 1, 2]


def test_a_sample_has_its_count_and_its_time() -> None:
    values = [list(numbers(field)) for row in rows(SAMPLE) for field in row if field.number == 2]
    assert values == [[6, 60_000_000], [3, 30_000_000], [1, 10_000_000]]


def test_a_function_says_where_it_begins() -> None:
    starts = [field.value for row in rows(FUNCTION) for field in row if field.number == 5]
    assert sorted(starts) == [8, 18, 29]


APP = Binary("/srv/app", "c0ffee", 0x401000, 0x480000, 0x1000)
LIBC = Binary("/lib/libc.so.6", "", 0x28000, 0x1BD000, 0x28000)


def of(*stacks: tuple[tuple[Frame, ...], int]) -> Profile:
    table = FrameTable()
    numbered = tuple((tuple(map(table.number, stack)), count) for stack, count in stacks)
    return dataclasses.replace(small(), frames=table.frames, stacks=numbered, notes=())


def strings(profile: Profile) -> list[str]:
    raw = gzip.decompress(encode(profile))
    return [field.content.decode() for field in fields(raw) if field.number == STRINGS]


def mappings(profile: Profile) -> list[dict[int, int | str]]:
    raw, texts = gzip.decompress(encode(profile)), strings(profile)
    rows = [list(fields(one.content)) for one in fields(raw) if one.number == MAPPING]
    return [
        {one.number: texts[one.value] if one.number in (5, 6) else one.value for one in row}
        for row in rows
    ]


def test_a_binary_is_a_mapping_with_its_range_and_id() -> None:
    main = dataclasses.replace(MAIN, address=0x401234, binary=APP)
    (mapping,) = mappings(of(((main,), 1)))
    assert mapping == {
        1: 1, 2: 0x401000, 3: 0x480000, 4: 0x1000, 5: "/srv/app", 6: "c0ffee", 7: 1, 8: 1, 9: 1, 10: 1,
    }  # fmt: skip


def test_the_first_mapping_is_that_of_the_program() -> None:
    main = dataclasses.replace(MAIN, binary=APP)
    copy = Frame("memcpy", kind="native", binary=LIBC)
    profile = of(((KERNEL, copy, main), 90), ((KERNEL,), 500), ((copy,), 5), ((main,), 10))
    assert [one[5] for one in mappings(profile)] == ["/srv/app", "/lib/libc.so.6", "[kernel]"]


def test_c_in_a_go_program_does_not_claim_to_have_lines() -> None:
    main = dataclasses.replace(MAIN, binary=APP)
    native = Frame("sqlite3_step", kind="native", binary=APP)
    go, c = mappings(of(((native, main), 1)))
    assert (go[5], c[5]) == ("/srv/app", "/srv/app")
    assert 8 in go
    assert 8 not in c


def test_mappings_say_that_nothing_is_left_to_look_up() -> None:
    assert all(mapping[7] == 1 for mapping in mappings(small()))


def test_no_name_can_end_its_line_or_draw_on_a_terminal() -> None:
    evil = Frame("main.\x1b[31m\nforged 100%\u202e", "a\r.go", 1, 1, "go")
    profile = dataclasses.replace(of(((evil,), 1)), notes=("a\nb",))
    assert {"main.\ufffd[31m\ufffdforged 100%\ufffd", "a\ufffd.go", "note a\ufffdb"} <= {
        *strings(profile)
    }
