import gzip

from nemutator_common.profiles.pprof_writing import FUNCTION, LOCATION, MAPPING, SAMPLE, encode
from nemutator_common.protobuf import BYTES, Field, fields, numbers

from tests.common.profiles.made import small


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


def test_mappings_say_that_nothing_is_left_to_look_up() -> None:
    for row in rows(MAPPING):
        assert {field.number for field in row if field.kind != BYTES and field.value == 1} >= {
            7,
            8,
            9,
            10,
        }
