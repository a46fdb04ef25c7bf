import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.image import DamagedError
from nemutator_agent.profiler.symbols.pclntab import (
    MOST_FUNCTIONS,
    GoTable,
    NoGoTableError,
    TooOldError,
    find,
)

from tests.agent.profiler.symbols.files import image
from tests.fakes.elf_files import Forge
from tests.fakes.go_programs import Function, GoProgram, Runs

RUNS = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 200)), min_size=1, max_size=20)


def distinct(runs: Runs) -> Runs:
    """Go never writes that a value changes to itself."""
    kept: Runs = []
    for value, run in runs:
        if not kept or kept[-1][0] != value:
            kept.append((value, run))
    return kept


@given(RUNS.map(distinct))
def test_values_hold_for_as_long_as_they_were_written(runs: Runs) -> None:
    size = sum(run for _, run in runs)
    program = GoProgram(functions=(Function("main.main", size, lines=runs),))
    table = find(image(program.build()))
    function = table.function(0)
    expected = [value for value, run in runs for _ in range(run)]
    assert [table.value(function.lines, place) for place in range(size)] == expected
    assert table.value(function.lines, size) == -1


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30))
def test_every_place_is_in_the_function_that_was_put_there(sizes: list[int]) -> None:
    functions = tuple(Function(f"main.f{number}", size) for number, size in enumerate(sizes))
    table = find(image(GoProgram(functions=functions).build()))
    place = 0
    for one in functions:
        for _ in range(one.size):
            found = table.function_at(place)
            assert found is not None
            assert table.name(found.name) == one.name
            place += 1
    assert table.function_at(place) is None
    assert table.function_at(-1) is None


@pytest.mark.parametrize("sections", [True, False])
@pytest.mark.parametrize("newer", [True, False])
def test_it_is_found_by_its_section_or_by_its_sign(sections: bool, newer: bool) -> None:
    table = find(image(GoProgram(newer=newer, sections=sections).build()))
    assert table.count == 3
    function = table.function(0)
    assert table.file_and_line(function, 0x11) == ("add.go", 21)
    assert function.start_line == (9 if newer else 0)


@pytest.mark.parametrize(("magic", "said"), [(0xFFFFFFFB, "1.15"), (0xFFFFFFFA, "1.17")])
def test_older_ones_are_refused_by_name(magic: int, said: str) -> None:
    with pytest.raises(TooOldError, match=said):
        find(image(GoProgram(magic=magic).build()))


def test_type_arguments_are_left_out_as_the_runtime_does() -> None:
    table = find(image(GoProgram().build()))
    assert table.name(table.function(1).name) == "main.each[...]"


def test_others_have_none() -> None:
    for forge in (Forge(contents=[(b".text", bytes(64))]), Forge(word=4), Forge(order=">")):
        with pytest.raises(NoGoTableError):
            find(image(forge.build()))
    with pytest.raises(NoGoTableError):
        find(image(GoProgram(magic=0xFFFFFFE0).build()))


# The header: magic, zeros, quantum, size of a pointer, number of functions and of files, first
# address; then where names, units, files, values and functions begin.
ZEROS, QUANTUM, WORD, COUNT, NAMES, UNITS, FILES, VALUES, FUNCTIONS = 4, 6, 7, 8, 32, 40, 48, 56, 64


def changed(program: GoProgram, at: int, layout: str, value: int) -> bytes:
    """The program with another number at a place of its table."""
    content = bytearray(program.build())
    position = find(image(bytes(content))).position
    struct.pack_into(layout, content, position + at, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("at", "layout", "value"),
    [
        (ZEROS, "<H", 1),
        (QUANTUM, "<B", 2),
        (QUANTUM, "<B", 0),
        (WORD, "<B", 4),
        (COUNT, "<Q", 0),
        (COUNT, "<Q", MOST_FUNCTIONS + 1),
        (NAMES, "<Q", 0),
        (UNITS, "<Q", 72),
        (FILES, "<Q", 73),
        (VALUES, "<Q", 74),
        (FUNCTIONS, "<Q", 75),
        (FUNCTIONS, "<Q", 1 << 40),
    ],
)
def test_a_head_that_cannot_be_true_is_no_table(at: int, layout: str, value: int) -> None:
    with pytest.raises(NoGoTableError):
        find(image(changed(GoProgram(), at, layout, value)))


@pytest.mark.parametrize("sections", [True, False])
def test_a_processor_may_have_larger_steps_of_code(sections: bool) -> None:
    content = changed(GoProgram(sections=sections), QUANTUM, "<B", 4)
    table = find(image(content))
    lines = table.function(0).lines
    assert [table.value(lines, 4 * 0x10 + step) for step in (-1, 0, 15, 16)] == [10, 21, 21, 31]


@pytest.mark.parametrize(("quantum", "word"), [(1, 8), (2, 4), (4, 8)])
def test_older_ones_are_known_on_every_processor(quantum: int, word: int) -> None:
    content = bytearray(changed(GoProgram(), QUANTUM, "<B", 1))
    position = find(image(bytes(content))).position
    struct.pack_into("<IHBB", content, position, 0xFFFFFFFB, 0, quantum, word)
    with pytest.raises(TooOldError):
        find(image(bytes(content)))
    struct.pack_into("<IHBB", content, position, 0xFFFFFFFB, 0, 3, word)
    with pytest.raises(NoGoTableError):
        find(image(bytes(content)))


def table_of(function: Function) -> GoTable:
    return find(image(GoProgram(functions=(function,)).build()))


def test_a_long_table_of_values_is_read_to_its_end() -> None:
    size = 40_000
    table = table_of(Function("main.f", size, lines=[(place % 2, 1) for place in range(size)]))
    lines = table.function(0).lines
    assert [table.value(lines, place) for place in (100, 3000, size - 1)] == [0, 0, 1]
    assert table.value(lines, size) == -1


@pytest.mark.parametrize("value", [(1 << 31) - 1, -(1 << 31)])
def test_values_have_a_limit(value: int) -> None:
    table = table_of(Function("main.f", 8, lines=[(value, 8)]))
    assert table.value(table.function(0).lines, 7) == value
    beyond = value + 1 if value > 0 else value - 1
    table = table_of(Function("main.f", 8, lines=[(beyond, 8)]))
    with pytest.raises(DamagedError):
        table.value(table.function(0).lines, 7)


def test_a_number_without_an_end_is_refused() -> None:
    content = bytearray(GoProgram().build())
    table = find(image(bytes(content)))
    lines = table.function(0).lines
    content[table.values + lines : table.values + lines + 6] = b"\xff" * 6
    with pytest.raises(DamagedError, match="a number"):
        find(image(bytes(content))).value(lines, 0)


def test_a_name_lies_among_the_names() -> None:
    table = find(image(GoProgram().build()))
    for offset in (-1, table.names_size):
        with pytest.raises(DamagedError, match="a name"):
            table.name(offset)
    assert table.name(0) == ""


def test_what_is_not_known_of_a_place_is_empty() -> None:
    table = table_of(Function("main.f", 8, files=[(-1, 4), (0, 4)], lines=[(7, 4), (-1, 4)]))
    function = table.function(0)
    assert table.file_and_line(function, 0) == ("", 7)
    assert table.file_and_line(function, 4) == ("main.go", 0)
    assert (function.start_line, function.depths, function.tree) == (0, 0, None)
    assert table.value(function.depths, 0) == -1
    assert table_of(Function("main.f", 8, start_line=-3)).function(0).start_line == 0
    content = bytearray(GoProgram().build())
    table = find(image(bytes(content)))
    struct.pack_into("<I", content, table.units, 0xFFFFFFFF)
    table = find(image(bytes(content)))
    assert table.file_and_line(table.function(0), 0) == ("", 10)


@pytest.mark.parametrize(("at", "layout"), [(0, "<I"), (28, "<I"), (43, "<B")])
def test_a_function_that_cannot_be_true_is_refused(at: int, layout: str) -> None:
    content = bytearray(GoProgram().build())
    table = find(image(bytes(content)))
    _, offset = struct.unpack_from("<II", content, table.functions + 8)
    # Its entry, how many tables of values it has, how many of data.
    struct.pack_into(layout, content, table.functions + offset + at, 33)
    with pytest.raises(DamagedError):
        find(image(bytes(content))).function(1)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.booleans())
def test_every_function_is_found_by_its_name(sizes: list[int], newer: bool) -> None:
    functions = tuple(Function(f"main.f{number}", size) for number, size in enumerate(sizes))
    table = find(image(GoProgram(newer=newer, functions=functions).build()))
    begin = 0
    for number, size in enumerate(sizes):
        function = table.function_named(f"main.f{number}")
        assert function is not None
        assert (function.entry, table.end_of(function)) == (begin, begin + size)
        begin += size
    for absent in ("main.f", "ain.f0", "main.f0 ", ""):
        assert table.function_named(absent) is None
