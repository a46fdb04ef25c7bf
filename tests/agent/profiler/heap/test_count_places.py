import struct
from collections.abc import Mapping

from nemutator_agent.profiler.heap.count_places import find
from nemutator_agent.profiler.heap.messages import CountPlaces
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import TEXT, Function, GoProgram, address

SIZE = 0x40
GOROUTINES, PROCESSORS, SYSTEM, FREE, COLLECTIONS = 0x700010, 0x700110, 0x700210, 0x700310, 0x705000
BYTES = 0x700410

Step = tuple[bytes, int]
"""What comes before a distance, and the place that it leads to; 0: there is no distance."""


def code(number: int, *steps: Step) -> bytes:
    """The code of the function *number*."""
    made = bytearray()
    for before, place in steps:
        made += before
        if place:
            made += struct.pack("<i", place - address(number * SIZE) - len(made) - 4)
    assert len(made) <= SIZE
    return bytes(made).ljust(SIZE, b"\x90")


LOAD, ADD, LEA, MOVE = b"\x48\x8b\x05", b"\x90\x01\x0d", b"\x48\x8d\x15", b"\x90\x8b\x15"
COUNT: Step = (b"\xf0\x0f\xc1\x0a", 0)
COUNT_WIDE: Step = (b"\xf0\x48\x0f\xc1\x0a", 0)
FREE_OF_PROCESSOR: Step = (b"\x83\xb8" + struct.pack("<I", 0x9A8) + b"\x20", 0)

FUNCTIONS: Mapping[str, tuple[Step, ...]] = {
    "runtime.allgadd": tuple((LOAD, GOROUTINES + 8 * number) for number in range(3)),
    "runtime.gfput": (FREE_OF_PROCESSOR, (ADD, FREE), (ADD, FREE + 16)),
    "runtime.gcMarkTermination": (
        (LEA, COLLECTIONS - 4112),
        (b"\x48\x01\x05", COLLECTIONS - 4104),
        (MOVE, COLLECTIONS),
    ),
    "runtime.newproc1": ((LEA, SYSTEM), COUNT, (LEA, BYTES), COUNT_WIDE),
    "runtime.gdestroy": ((LEA, BYTES), COUNT_WIDE, (LEA, SYSTEM), COUNT),
    "runtime.procresize": tuple((LOAD, PROCESSORS + 8 * number) for number in range(3)),
    "runtime.retake": ((LOAD, PROCESSORS), (LOAD, PROCESSORS + 8)),
}
PLACES = CountPlaces(
    goroutines=GOROUTINES,
    free=(FREE, FREE + 16),
    system=SYSTEM,
    processors=PROCESSORS,
    free_of_processor=0x9A8,
    collections=COLLECTIONS,
)


def program(functions: Mapping[str, tuple[Step, ...]]) -> GoSymbols:
    made = GoProgram(functions=tuple(Function(name, SIZE) for name in functions))
    content = bytearray(made.build())
    codes = [code(number, *steps) for number, steps in enumerate(functions.values())]
    content[TEXT : TEXT + SIZE * len(functions)] = b"".join(codes)
    return GoSymbols(image(bytes(content)))


def test_places_are_told_by_what_functions_of_the_runtime_work_on() -> None:
    assert find(program(FUNCTIONS)) == PLACES


def test_older_versions_end_goroutines_elsewhere_and_count_all_as_one() -> None:
    older = {**FUNCTIONS, "runtime.gfput": (FREE_OF_PROCESSOR, (ADD, FREE))}
    older["runtime.goexit0"] = older.pop("runtime.gdestroy")
    found = find(program(older))
    assert found is not None
    assert found.free == (FREE,)


def test_without_one_of_them_nothing_is_known() -> None:
    for name in FUNCTIONS:
        assert find(program({one: FUNCTIONS[one] for one in FUNCTIONS if one != name})) is None


def test_two_places_that_may_be_meant_are_none() -> None:
    second = (LOAD, PROCESSORS + 16)
    doubtful = {**FUNCTIONS, "runtime.retake": (*FUNCTIONS["runtime.retake"], second)}
    assert find(program(doubtful)) is None
