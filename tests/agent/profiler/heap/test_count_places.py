import struct
from collections.abc import Mapping

from nemutator_agent.profiler.heap.count_places import find
from nemutator_agent.profiler.heap.messages import CountPlaces
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

from tests.agent.profiler.heap import arm64_code as arm
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
    return linked(
        {name: code(number, *steps) for number, (name, steps) in enumerate(functions.items())}
    )


def linked(functions: Mapping[str, bytes], *, quantum: int = 1) -> GoSymbols:
    """A program of functions with that code, for x86-64, or with a quantum of 4 for arm64."""
    made = GoProgram(functions=tuple(Function(name, SIZE) for name in functions), quantum=quantum)
    content = bytearray(made.build())
    codes = functions.values()
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


ON_ARM64: Mapping[str, tuple[tuple[int, int], ...]] = {
    "runtime.allgadd": tuple((arm.LDR, GOROUTINES + 8 * number) for number in range(3)),
    "runtime.gfput": (
        *((shape, FREE + 16 * number) for number in (0, 1) for shape in (arm.LDRSW, arm.STR_W)),
    ),
    "runtime.gcMarkTermination": (
        (arm.ADD, COLLECTIONS - 4112),
        (arm.LDR, COLLECTIONS - 4104),
        (arm.LDR_W, COLLECTIONS),
    ),
    "runtime.newproc1": ((arm.LDADDAL, BYTES), (arm.LDADDAL_W, SYSTEM)),
    "runtime.gdestroy": ((arm.LDAXR_W, SYSTEM),),
    "runtime.procresize": tuple((arm.LDR, PROCESSORS + 8 * number) for number in range(3)),
    "runtime.retake": ((arm.LDP, PROCESSORS),),
}
"""What each does to which variable."""

COMPARED = (
    arm.at(arm.LDRSW, 0x9A8, base=0, register=5, size=4),
    arm.at(arm.CMP_W, 32, base=5, register=0),
)


def arm64_code(number: int, steps: tuple[tuple[int, int], ...], *more: int) -> bytes:
    words: list[int] = []
    for shape, variable in steps:
        words.append(arm.adrp(address(number * SIZE) + 4 * len(words), variable))
        place = variable & 0xFFF
        if shape in (arm.LDP, arm.LDADDAL, arm.LDADDAL_W, arm.LDAXR_W):
            words += arm.at(arm.ADD, place, register=27), arm.beside(shape, 27)
        else:
            size = 8 if shape == arm.LDR else 1 if shape == arm.ADD else 4
            words.append(arm.at(shape, place, size=size))
    return arm.code(*words, *more).ljust(SIZE, b"\0")


def test_on_arm64_they_are_the_same_places() -> None:
    codes = {
        name: arm64_code(number, steps, *(COMPARED if name == "runtime.gfput" else ()))
        for number, (name, steps) in enumerate(ON_ARM64.items())
    }
    assert find(linked(codes, quantum=4)) == PLACES
    assert find(linked(codes)) is None
