import gc
import weakref

from nemutator_agent.profiler.symbols.lookup import Executable, kernel
from nemutator_agent.profiler.symbols.messages import LONGEST_TEXT, SymbolAnswer, SymbolQuestion
from nemutator_common.profiles.model import Frame

from tests.agent.profiler.symbols.files import reader
from tests.agent.profiler.symbols.test_kallsyms import BASE, LINES
from tests.agent.profiler.symbols.test_native import FUNCTION, library
from tests.fakes.elf_files import ADDRESS, Forge
from tests.fakes.go_programs import TEXT, GoProgram


def asked(content: bytes, *places: int, depths: tuple[int, ...] = ()) -> SymbolAnswer:
    return Executable(reader(content)).answer(SymbolQuestion(False, places, depths))


def test_places_in_a_go_program_are_told_with_their_inlined_calls() -> None:
    answer = asked(
        GoProgram().build(), TEXT + 0x15, TEXT, TEXT + 0x60, 5, TEXT + 4, depths=(TEXT + 4, 5)
    )
    names = [
        None if stack is None else [answer.frames[one].function for one in stack]
        for stack in answer.places
    ]
    assert names == [["main.deep", "main.add", "main.main"], ["main.main"], [], None, ["main.main"]]
    assert answer.depths == (8, -1)
    assert answer.text == (TEXT, TEXT + 0x70)
    assert answer.notes == ()


def test_what_cannot_be_told_is_said() -> None:
    assert asked(GoProgram(data_word=50).build()).notes == ("no_inlines",)
    assert asked(GoProgram(magic=0xFFFFFFFB).build(), TEXT).notes == ("go_too_old",)
    assert asked(GoProgram(module=False, text_in_head=False).build()).notes == ("go_damaged",)
    nothing = SymbolAnswer((), (None,), (-1,), None, ("no_elf",))
    assert asked(b"#!/bin/sh", 1, depths=(1,)) == nothing


def test_what_was_found_before_the_effort_was_spent_is_kept() -> None:
    content = GoProgram().build()
    places = (TEXT, TEXT + 0x15, TEXT + 0x41)
    whole = asked(content, *places)
    partial = Executable(reader(content), effort=600).answer(SymbolQuestion(False, places))
    assert partial.places[0] == whole.places[0]
    assert partial.places[-1] is None
    assert partial.notes == ("too_much",)
    nothing = Executable(reader(content), effort=0).answer(SymbolQuestion(False, places))
    assert nothing.places == (None, None, None)


def test_a_debug_file_is_asked_by_addresses() -> None:
    content = library([("malloc", ADDRESS + 0xC0, 0x10, FUNCTION)])
    answer = Executable(reader(content)).answer(
        SymbolQuestion(False, (ADDRESS + 0xC8, 0xC8), is_debug_file=True)
    )
    assert answer.frames == (Frame("malloc", kind="native"),)
    assert answer.places == ((0,), None)


def test_functions_of_a_library_are_named() -> None:
    forged = Forge(contents=[(b".text", bytes(64))], flags=5).build()
    assert asked(forged, 5).places == (None,)
    content = library([("malloc", ADDRESS + 0xC0, 0x10, FUNCTION)])
    # The forged file's only segment is data; as code it is the same file.
    content = content[:68] + b"\x05" + content[69:]
    answer = asked(content, 0xC8, 0xD0)
    assert answer.frames == (Frame("malloc", kind="native"),)
    assert answer.places == ((0,), None)


def test_a_name_without_end_is_cut() -> None:
    name = "f" * 3 * LONGEST_TEXT
    line = b"%016x t %s\n" % (BASE, name.encode())
    answer = kernel(reader(line), SymbolQuestion(True, (BASE,), ()))
    assert [len(frame.function) for frame in answer.frames] == [LONGEST_TEXT]


def test_the_kernel_is_asked_by_address() -> None:
    answer = kernel(reader(LINES), SymbolQuestion(True, (BASE + 0x101, BASE), (BASE,)))
    assert answer.frames == (Frame("first", kind="kernel"),)
    assert (answer.places, answer.depths) == (((0,), None), (-1,))
    hidden = kernel(reader(b"0000000000000000 T f\n"), SymbolQuestion(True, (BASE,)))
    assert (hidden.places, hidden.notes) == ((None,), ("hidden",))


def test_what_was_read_of_a_file_is_given_back_with_it() -> None:
    """Python looks for what refers to itself but seldom, and each file has megabytes."""
    gc.disable()
    try:
        executable = Executable(reader(GoProgram().build()))
        assert executable.answer(SymbolQuestion(False, (TEXT,), (TEXT,))).places != (None,)
        parts = [weakref.ref(one) for one in (executable, executable._image, executable._go)]
        del executable
        assert [one() for one in parts] == [None, None, None]
    finally:
        gc.enable()
