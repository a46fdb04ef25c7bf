import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.pclntab import NoGoTableError, TooOldError, find

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
