import pytest
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.symbolising import ENOUGH_SAMPLES
from nemutator_agent.profiler.symbols.wanted import TaskAddresses
from nemutator_common import names
from nemutator_common.profiles import folded, pprof
from nemutator_common.profiles.grade import Grade
from nemutator_common.profiles.model import Binary

from tests.agent.profiler.symbols.symbol_world import APP, BIAS, VDSO, World, app, profile, row
from tests.agent.profiler.symbols.test_kallsyms import BASE
from tests.fakes.go_programs import ADDRESS, TEXT, GoProgram


async def test_inlined_calls_kernel_and_what_has_no_file_stand_in_one_stack(world: World) -> None:
    lines, notes = await world.folded(
        row(app(0x15), app(0x41), 0x7010), row(0x9010, kernel=(BASE + 0x110,)), row(5)
    )
    assert lines == [
        "[unknown] 1",
        "[unknown_in_memory_without_a_file];first_[k] 1",
        "[vdso];main.each[...];main.main;main.add_[i];main.deep_[i] 1",
    ]
    assert notes == ("1 of 5 places have no name: 1 in memory without a file (seen once)",)


async def test_a_file_is_one_binary_wherever_processes_have_it(world: World) -> None:
    other = BIAS + 0x10_0000
    world.files.processes[2] = [
        Mapping(other + TEXT, other + 0x2000, TEXT, 7, "/srv/app (deleted)")
    ]
    content, _ = await world.symbolising.symbolise(
        profile(row(app(1)), row(other + TEXT + 1, pid=2))
    )
    (frame,) = pprof.decode(content).frames
    assert frame.address == ADDRESS + TEXT + 1
    assert frame.binary == Binary("/srv/app", "", ADDRESS + TEXT, ADDRESS + 0x2000, TEXT)


async def test_the_lost_caller_is_put_back(world: World) -> None:
    lines, _ = await world.folded(
        row(app(1), words=(app(0x41), 0)),
        row(app(5), words=(0, app(0x41))),
        row(app(9), words=(app(0x41), app(0x41))),
    )
    assert lines == ["main.each[...];main.main 2", "main.main 1"]


async def test_what_has_ended_is_said(world: World) -> None:
    lines, notes = await world.folded(row(1, 2, pid=99))
    assert lines == ["[gone];[gone] 1"]
    assert notes[0].startswith("1 process had ended")


async def test_addresses_of_another_program_of_the_same_process_get_none_of_its_names(
    world: World,
) -> None:
    world.files.images[1] = 0x7FFC
    lines, notes = await world.folded(
        row(app(1), image=0x7FFC), row(app(1), image=0x7FFD), row(app(1))
    )
    assert lines == ["[gone] 1", "main.main 2"]
    assert notes[0].startswith("1 process had ended, or run another program")


async def test_what_was_kept_has_names_after_its_end(world: World) -> None:
    world.files.images[1] = 0x7FFC
    kept = await world.symbolising.keep(SeenProgram((1, 0x7FFC), 7, 1, app(0)))
    assert kept == await world.symbolising.range_of(1)
    del world.files.processes[1]
    world.files.refused[7] = ProcessGoneError()
    content, _ = await world.symbolising.symbolise(
        profile(row(app(1), image=0x7FFC), row(0x9010, image=0x7FFC))
    )
    assert folded.render(pprof.decode(content)).splitlines() == ["[gone] 1", "main.main 1"]
    world.symbolising.forget()
    assert world.files.open_files == 0
    assert (await world.folded(row(app(1), image=0x7FFC)))[0] == ["[gone] 1"]


async def test_what_ended_at_once_has_the_names_of_another_that_ran_the_same_executable(
    world: World,
) -> None:
    await world.symbolising.keep(SeenProgram((1, 0), 7, 1, app(0)))
    moved = 0x12_3000
    for pid, inode in ((98, 7), (99, 8)):
        program = SeenProgram((pid, 0x7FF0), inode, 1, app(0) + moved)
        assert await world.symbolising.keep(program) is None
    content, notes = await world.symbolising.symbolise(
        profile(
            row(app(1) + moved, 0x9010, pid=98, image=0x7FF0),
            row(app(1) + moved, pid=99, image=0x7FF0),
        )
    )
    assert folded.render(pprof.decode(content)).splitlines() == ["[gone] 1", "[gone];main.main 1"]
    assert notes[0].startswith("2 processes had ended")
    world.symbolising.forget()
    assert world.files.open_files == 0


async def test_who_was_only_seen_in_the_kernel_is_not_looked_for(world: World) -> None:
    lines, notes = await world.folded(row(pid=99, kernel=(BASE + 0x110,)))
    assert lines == ["first_[k] 1"]
    assert notes == ()


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (HiddenFileError(), "app may not be opened"),
        (FileSystemStuckError(), "app lies on"),
        (ProcessGoneError(), "1 of 1"),
    ],
)
async def test_a_file_that_may_not_be_read_leaves_its_name(
    world: World, refusal: Exception, said: str
) -> None:
    world.files.refused[7] = refusal
    lines, notes = await world.folded(row(app(1)))
    assert lines == ["[unknown_in_app] 1"]
    assert notes[0].startswith(said)


async def test_a_process_that_may_not_be_looked_at_is_said(world: World) -> None:
    world.files.processes[1] = HiddenFileError()
    lines, notes = await world.folded(row(app(1)))
    assert lines == ["[hidden] 1"]
    assert "CAP_SYS_PTRACE" in notes[0]


async def test_what_was_learnt_is_not_asked_again(world: World) -> None:
    await world.folded(row(app(1)), row(app(0x20), words=(app(0x41), 0)))
    asked = len(world.worker.asked)
    await world.folded(row(app(0x20), words=(app(0x41), 0)))
    assert len(world.worker.asked) == asked
    await world.folded(row(app(1), words=(app(0x41), 0)))
    first, second = world.worker.asked[asked:]
    assert first[1].depths, "the depth of this one was not known yet"
    assert second[1].calls, "nor was its call checked"
    assert world.meter.total(names.SYMBOL_QUESTIONS, result="answered") == asked + 2
    assert world.worker.stops == 3


async def test_calls_are_checked_in_the_code_and_the_stacks_graded(world: World) -> None:
    # main.each calls main.main, by a distance that counts from the return address.
    call = b"\xe8" + (-0x4A).to_bytes(4, "little", signed=True)
    code = bytearray(GoProgram().build())
    code[TEXT + 0x45 : TEXT + 0x4A] = call
    world.files.contents[7] = bytes(code)
    true, wrong = app(0x4A), app(0x58)
    content, _ = await world.symbolising.symbolise(
        profile(row(app(1), true, count=5), row(app(1), wrong, 0x9010, count=2))
    )
    grade = pprof.decode(content).grade
    assert grade == Grade(
        rooted=0, broken={"go": 5, "unnamed": 2}, calls={"direct": 5, "wrong": 2, "unread": 2}
    )


async def test_a_worker_that_is_not_confined_reads_nothing_and_the_profile_says_so(
    world: World,
) -> None:
    world.worker.failing[7] = WorkerFailedError("unconfined")
    lines, notes = await world.folded(row(app(1)))
    assert lines == ["[unknown_in_app] 1"]
    assert notes[0].startswith(
        "app was not read: the process that reads strangers' files could not"
    )


async def test_the_worker_hears_what_each_file_was_when_it_was_opened(world: World) -> None:
    await world.folded(row(app(1)))
    assert [question.id and question.id.inode for _, question in world.worker.asked] == [7]


async def test_a_kernel_that_hides_is_said(world: World) -> None:
    world.files.kernel = b"0000000000000000 T f\n"
    lines, notes = await world.folded(row(app(1), kernel=(BASE,)))
    assert lines == ["main.main;[unknown_in_the_kernel]_[k] 1"]
    assert any("kptr_restrict" in note for note in notes)
    world.files.kernel = HiddenFileError()
    _, notes = await world.folded(row(app(1), kernel=(BASE,)))
    assert any("kptr_restrict" in note for note in notes)


async def test_the_text_is_where_the_process_has_it(world: World) -> None:
    assert await world.symbolising.range_of(1) == (app(0), app(0x70))
    assert await world.symbolising.range_of(1) == (app(0), app(0x70))
    assert len(world.worker.asked) == 1
    assert world.files.open_files == 0
    await world.symbolising.rest()
    assert world.worker.stops == 1


async def test_a_text_that_no_mapping_covers_is_not_known(world: World) -> None:
    before = Mapping(BIAS + TEXT - 0x10, BIAS + TEXT, TEXT - 0x10, 7, "/srv/app")
    world.files.processes[1] = [before]
    assert await world.symbolising.range_of(1) is None
    world.files.processes[1] = [before, APP]
    assert await world.symbolising.range_of(1) == (app(0), app(0x70))


async def test_where_an_executable_lies_is_known_without_its_file(world: World) -> None:
    far = Mapping(APP.end + 0x1000, APP.end + 0x2000, APP.offset, 7, "/srv/app")
    world.files.processes[1] = [VDSO, APP, far]
    assert await world.symbolising.code_of(1) == (APP.start, far.end)
    assert world.worker.asked == []
    world.files.processes[2] = [VDSO]
    world.files.processes[3] = HiddenFileError()
    assert [await world.symbolising.code_of(pid) for pid in (2, 3, 99)] == [None, None, None]


async def test_without_go_there_is_no_text(world: World) -> None:
    world.files.contents[7] = b"#!/bin/sh"
    assert await world.symbolising.range_of(1) is None
    world.files.processes[2] = [VDSO]
    assert await world.symbolising.range_of(2) is None
    assert await world.symbolising.range_of(99) is None
    world.files.processes[3] = HiddenFileError()
    assert await world.symbolising.range_of(3) is None


async def test_addresses_alone_are_named_too(world: World) -> None:
    wanted = TaskAddresses((1, 0), {app(0x15): 2, 0x9010: 1}, set())
    found, notes = await world.symbolising.named(wanted)
    shown = {pc: [frame.function for frame in frames] for pc, frames in found.items()}
    assert shown == {
        app(0x15): ["main.deep", "main.add", "main.main"],
        0x9010: ["[unknown in memory without a file]"],
    }
    assert notes == ("1 of 2 places have no name: 1 in memory without a file (seen once)",)
    assert (world.files.open_files, world.worker.stops) == (0, 1)


async def test_code_that_a_process_has_compiled_has_the_names_that_it_tells(world: World) -> None:
    world.files.perf_maps[1] = (
        b"9000 20 LazyCompile:~old x.js:1:1\n9000 20 LazyCompile:*new x.js:1:1\n"
    )
    lines, notes = await world.folded(row(0x9010, 0x9F01, count=2), row(app(1)))
    assert lines == [
        "[unknown_in_memory_without_a_file];LazyCompile:*new_x.js:1:1 2",
        "main.main 1",
    ]
    assert notes == ("1 of 3 places have no name: 1 in memory without a file (seen 2 times)",)


HIDDEN_CODE = (
    "perf-1.map names code that no stack shows: an interpreter without frame pointers hides what it runs"
    " (Python: one that is built with -fno-omit-frame-pointer shows it)"
)


async def test_names_of_code_that_no_stack_shows_are_noted(world: World) -> None:
    world.files.perf_maps[1] = b"9000 20 py::price\n"
    _, notes = await world.folded(row(app(1), count=ENOUGH_SAMPLES))
    assert notes == (HIDDEN_CODE,)
    _, notes = await world.folded(row(app(1), count=ENOUGH_SAMPLES - 1))
    assert notes == ()
    lines, notes = await world.folded(row(app(1), 0x9010, count=ENOUGH_SAMPLES))
    assert lines == [f"py::price;main.main {ENOUGH_SAMPLES}"]
    assert notes == ()
    assert world.files.open_files == 0


async def test_a_process_that_cannot_be_asked_for_more_keeps_its_memory_without_names(
    world: World,
) -> None:
    world.files.perf_maps[1] = b"9000 20 f\n"
    world.worker.failing[1] = WorkerFailedError("died")
    lines, notes = await world.folded(row(0x9010))
    assert lines == ["[unknown_in_memory_without_a_file] 1"]
    assert notes[0] == "reading perf-1.map failed: it has no names"
