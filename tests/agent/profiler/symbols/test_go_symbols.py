import pytest
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import DamagedError
from nemutator_common.profiles.model import Frame

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import MAIN, TEXT, Function, GoProgram, address


def symbols(program: GoProgram) -> GoSymbols:
    return GoSymbols(image(program.build()))


@pytest.mark.parametrize("newer", [True, False])
def test_inlined_calls_come_first_each_where_it_was_called(newer: bool) -> None:
    starts = (30, 20, 9) if newer else (0, 0, 0)
    assert symbols(GoProgram(newer=newer)).frames(address(0x15)) == (
        Frame("main.deep", "add.go", 31, starts[0], "go", inlined=True),
        Frame("main.add", "add.go", 21, starts[1], "go", inlined=True),
        Frame("main.main", "main.go", 10, starts[2], "go"),
    )


def test_without_the_data_of_functions_only_the_function_itself_is_named() -> None:
    program = symbols(GoProgram(data_word=50))
    assert not program.inlines
    assert program.frames(address(0x15)) == (Frame("main.main", "add.go", 31, 9, "go"),)


def test_what_nobody_wrote_is_left_out_and_its_inlined_call_stands_alone() -> None:
    program = symbols(GoProgram())
    assert program.frames(address(0x60)) == ()
    assert program.frames(address(0x68)) == (Frame("main.T.M", "main.go", 50, 49, "go"),)


SWITCH = Function("runtime.systemstack_switch", 0x10, [(0, 0x10)], [(1, 0x10)], kind=20)


@pytest.mark.parametrize("newer", [True, False])
def test_wrappers_are_known_by_their_kind_wherever_they_stand(newer: bool) -> None:
    deferred = Function(
        "main.main.deferwrap1", 0x10, [(0, 0x10)], [(7, 0x10)], kind=21,
        inlined=[(-1, 4), (0, 4), (1, 8)], tree=[("main.inner", 2, 9), ("main.T.M", 2, 9)], kinds=(0, 21),
    )  # fmt: skip
    # Nobody wrote it, and it computes: the runtime shows it.
    equal = Function("type:.eq.main.T", 0x10, [(2, 0x10)], [(1, 0x10)])
    program = symbols(GoProgram(newer=newer, functions=(SWITCH, deferred, equal)))
    start = 9 if newer else 0
    assert program.frames(address(0x14)) == (Frame("main.inner", "main.go", 7, start, "go"),)
    assert program.frames(address(0x18)) == ()
    assert [one.function for one in program.frames(address(0x20))] == ["type:.eq.main.T"]


def test_the_depth_of_the_stack_is_known_everywhere() -> None:
    program = symbols(GoProgram())
    assert [program.depth(address(place)) for place in (0, 4, 8, 0x3F)] == [0, 8, 0x18, 0x18]
    assert program.depth(address(0x40)) == -1
    assert program.depth(0) == -1


def test_outside_there_is_nothing() -> None:
    program = symbols(GoProgram())
    assert (program.first, program.end) == (address(0), address(0x70))
    assert program.covers(address(0))
    assert not program.covers(address(0x70))
    for place in (-1, 0x70):
        assert program.frames(address(place)) == ()


def test_where_the_code_is_must_be_said_by_somebody() -> None:
    assert symbols(GoProgram(module=False)).first == address(0)
    with pytest.raises(DamagedError):
        symbols(GoProgram(module=False, text_in_head=False))


def test_calls_that_are_inlined_into_each_other_are_refused() -> None:
    circle = Function(
        MAIN.name, MAIN.size, MAIN.files, MAIN.lines, inlined=[(0, 0x40)], tree=[("f", 0x10, 1)]
    )
    with pytest.raises(DamagedError):
        symbols(GoProgram(functions=(circle,))).frames(address(0))


def test_the_code_of_a_function_is_found_by_its_name() -> None:
    content = bytearray(GoProgram().build())
    content[TEXT : TEXT + 0x60] = bytes(range(0x60))
    go = GoSymbols(image(bytes(content)))
    assert go.quantum == 1
    assert go.code_of("main.main", most=1 << 20) == (address(0), bytes(range(0x40)))
    assert go.code_of("main.main", most=3) == (address(0), b"\0\1\2")
    assert go.code_of("main.nobody", most=3) is None
