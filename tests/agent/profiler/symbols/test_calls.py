import struct

from nemutator_agent.inspection.bounded_file import ReadAt
from nemutator_agent.profiler.symbols.calls import ELSEWHERE, verdicts
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import Image
from nemutator_common.profiles.grade import Verdict

from tests.agent.profiler.symbols.files import reader
from tests.agent.profiler.symbols.test_native import FUNCTION, library
from tests.fakes.elf_files import ADDRESS
from tests.fakes.go_programs import TEXT, GoProgram

MAIN, EACH, WRAPPER = TEXT, TEXT + 0x40, TEXT + 0x60
"""Where the functions of the program begin."""


def jump(first: int, at: int, to: int) -> bytes:
    """An instruction with a distance, which counts from its end."""
    return struct.pack("<Bi", first, to - at - 5)


def call(at: int, to: int) -> bytes:
    return jump(0xE8, at, to)


def program(code: dict[int, bytes]) -> ReadAt:
    content = bytearray(GoProgram().build())
    for at, instruction in code.items():
        content[at : at + len(instruction)] = instruction
    return reader(bytes(content))


def verdict(
    caller: int, callee: int, code: dict[int, bytes], *, machine: int | None = None
) -> Verdict | None:
    head = {} if machine is None else {18: struct.pack("<H", machine)}
    image = Image(program(code | head))
    return verdicts(image, GoSymbols(image), [(caller, callee)]).get((caller, callee))


def test_a_call_in_the_code_is_of_the_function_that_it_leads_to() -> None:
    code = {EACH + 5: call(EACH + 5, MAIN)}
    last = EACH + 9
    assert verdict(last, MAIN, code) == "direct"
    assert verdict(last, MAIN + 0x20, code) == "direct"
    assert verdict(last, WRAPPER + 3, code) == "wrong"
    assert verdict(last + 1, MAIN, code) == "wrong"
    assert verdict(last, ELSEWHERE, code) == "possible"


def test_a_call_into_the_middle_of_a_function_is_one_of_it() -> None:
    # As Go calls the code that clears so many words.
    assert verdict(EACH + 9, MAIN + 4, {EACH + 5: call(EACH + 5, MAIN + 0x10)}) == "direct"


def test_a_pointer_may_lead_anywhere() -> None:
    code = {EACH + 5: b"\xff\xd0"}
    assert verdict(EACH + 6, MAIN, code) == "possible"
    assert verdict(EACH + 6, ELSEWHERE, code) == "possible"


def test_a_function_that_only_jumps_to_another_one_has_called_it() -> None:
    code = {EACH + 5: call(EACH + 5, WRAPPER), WRAPPER: jump(0xE9, WRAPPER, MAIN)}
    assert verdict(EACH + 9, MAIN + 1, code) == "direct"
    away = {EACH + 5: call(EACH + 5, WRAPPER), WRAPPER: jump(0xE9, WRAPPER, EACH)}
    assert verdict(EACH + 9, MAIN + 1, away) == "wrong"
    by_pointer = {EACH + 5: call(EACH + 5, WRAPPER), WRAPPER: b"\xff\xe7"}
    assert verdict(EACH + 9, MAIN + 1, by_pointer) == "possible"


def test_a_call_of_code_without_a_function_may_lead_anywhere() -> None:
    assert verdict(EACH + 9, MAIN, {EACH + 5: call(EACH + 5, 0x100)}) == "possible"


def test_places_outside_of_code_make_no_call() -> None:
    assert verdict(5, MAIN, {}) == "wrong"
    assert verdict(1 << 47, MAIN, {}) == "wrong"
    assert verdict(EACH + 9, 1 << 47, {EACH + 5: call(EACH + 5, MAIN)}) == "possible"


def test_code_of_another_machine_is_not_judged() -> None:
    assert verdict(EACH + 9, MAIN, {EACH + 5: call(EACH + 5, MAIN)}, machine=243) is None


def test_functions_of_c_are_known_by_their_symbols() -> None:
    first = ADDRESS + 0x800
    content = bytearray(
        library([("caller", first, 0x20, FUNCTION), ("callee", first + 0x20, 0x20, FUNCTION)])
    )
    # The forged file's only segment is data; as code it is the same file.
    content[68] = 5
    content[18:20] = struct.pack("<H", 62)
    content += bytes(max(0, 0x900 - len(content)))
    content[0x800:0x805] = call(0x800, 0x820)
    struct.pack_into("<QQ", content, 64 + 32, len(content), len(content))
    image = Image(reader(bytes(content)))
    asked = [(0x804, 0x825), (0x804, 0x80A), (0x804, 0x8F0)]
    found = verdicts(image, None, asked)
    assert [found[one] for one in asked] == ["direct", "wrong", "possible"]


def test_what_the_effort_is_not_enough_for_is_left_out() -> None:
    image = Image(program({EACH + 5: call(EACH + 5, WRAPPER)}))
    go = GoSymbols(image)
    image.read(MAIN, 1)
    image.effort.renew(0)
    # Its code was read before; the function that it calls would cost something.
    assert verdicts(image, go, [(EACH + 9, MAIN)]) == {}
