"""What takes too long, or makes the worker fail, costs its own names and no more."""

import asyncio
from typing import Literal

import pytest
from nemutator_agent.inspection.failures import WorkerFailedError
from nemutator_agent.profiler.symbols.asking import LONGEST_S, MOST_CPU_S, MOST_FAILURES
from nemutator_agent.profiler.symbols.messages import MOST_ADDRESSES
from nemutator_common import names
from nemutator_common.profiles import pprof

from tests.agent.profiler.symbols.symbol_world import World, app, profile, row
from tests.agent.profiler.symbols.test_kallsyms import BASE
from tests.fakes.go_programs import Function, GoProgram


async def test_calls_that_the_worker_fails_on_are_unread(world: World) -> None:
    async def fail_next() -> None:
        world.worker.failing[7] = WorkerFailedError("died")
        world.worker.answering = None

    world.worker.answering = fail_next
    content, _ = await world.symbolising.symbolise(profile(row(app(1), app(0x41))))
    found = pprof.decode(content)
    assert found.grade is not None
    assert found.grade.calls == {"unread": 1}
    assert found.grade.real_share is None


async def test_many_places_are_many_questions(world: World) -> None:
    size = 2 * MOST_ADDRESSES + 1
    program = GoProgram(functions=(Function("main.long", size, lines=[(1, size)]),))
    world.files.contents[7] = program.build()
    lines, _ = await world.folded(*(row(app(place)) for place in range(size)))
    assert lines == [f"main.long {size}"]
    assert len(world.worker.asked) == 3


async def test_a_file_that_the_worker_fails_on_is_left_alone(world: World) -> None:
    world.worker.failing[7] = WorkerFailedError("died")
    rows = [row(app(1), count=50), row(app(1), app(0x41))]
    for inode in range(10, 20):
        rows.append(row(app(1), pid=world.add(inode, b"")))
        world.worker.failing[inode] = WorkerFailedError("died")
    lines, notes = await world.folded(*rows)
    assert [inode for inode, _ in world.worker.asked] == [7, 10, 11]
    assert len(world.worker.asked) == MOST_FAILURES
    assert all(line.startswith("[unknown_in_") for line in lines)
    assert "reading app failed: it has no names" in notes
    assert any(note.startswith("symbols of 12 were not read in time") for note in notes)
    assert world.meter.total(names.SYMBOL_QUESTIONS, result="died") == MOST_FAILURES


@pytest.mark.parametrize("reason", ["slow", "hung"])
async def test_a_file_that_takes_too_long_costs_only_its_own_names(
    world: World, reason: Literal["slow", "hung"]
) -> None:
    world.worker.failing[7] = WorkerFailedError(reason)
    other = world.add(8, GoProgram().build())
    lines, notes = await world.folded(row(app(1), count=2), row(app(1), pid=other))
    assert lines == ["[unknown_in_app] 2", "main.main 1"]
    assert notes[0].startswith("symbols of app were not read in time, some functions")
    assert notes[1:] == ("1 of 2 places have no name: 1 in app (seen 2 times)",)
    assert world.meter.total(names.SYMBOL_QUESTIONS, result=reason) == 1


async def test_what_was_seen_most_is_named_first_and_no_name_that_was_found_is_lost(
    world: World,
) -> None:
    # The file that is seen most has its samples in two processes, none of which has the most.
    seldom, twin = world.add(9, GoProgram().build()), 300
    world.files.processes[twin] = world.files.processes[1]
    rows = (
        row(app(1), pid=seldom, count=4),
        row(app(1), count=3),
        row(app(1), pid=twin, count=3),
        row(app(1), pid=world.add(8, GoProgram().build()), count=5, kernel=(BASE + 0x110,)),
    )
    world.worker.costs_s = MOST_CPU_S / 3
    lines, notes = await world.folded(*rows)
    assert [inode for inode, _ in world.worker.asked] == [0, 7, 8]
    assert lines == ["[unknown_in_9] 4", "main.main 6", "main.main;first_[k] 5"]
    late, count = notes
    assert late.startswith("symbols of 9 were not read in time, some functions have no names: ")
    assert count == "1 of 5 places have no name: 1 in 9 (seen 4 times)"
    world.worker.asked.clear()
    lines, notes = await world.folded(*rows)
    assert [inode for inode, _ in world.worker.asked] == [0, 9]
    assert notes == ()


async def test_no_question_is_asked_when_time_is_up(world: World) -> None:
    async def take_long() -> None:
        await world.clock.advance(LONGEST_S)

    world.worker.answering = take_long
    rows = (row(app(1), count=2, kernel=()), row(app(1), pid=world.add(8, GoProgram().build())))
    lines, notes = await world.folded(*rows)
    assert lines == ["[unknown_in_8] 1", "main.main 2"]
    assert notes[0].startswith("symbols of 8 were not read in time")
    assert len(world.worker.asked) == 1


async def test_the_rest_of_a_large_file_and_of_the_kernel_can_be_late_too(world: World) -> None:
    size = MOST_ADDRESSES + 1
    program = GoProgram(functions=(Function("main.long", size, lines=[(1, size)]),))
    world.files.contents[7] = program.build()
    world.worker.costs_s = MOST_CPU_S
    lines, notes = await world.folded(*(row(app(place)) for place in range(size)))
    assert lines == ["[unknown_in_app] 1", f"main.long {MOST_ADDRESSES}"]
    assert notes[1].startswith("symbols of app were not read in time")
    world.worker.asked.clear()
    kernel = [row(kernel=(BASE + 0x110 + place,)) for place in range(size)]
    lines, notes = await world.folded(*kernel, row(app(1)))
    assert notes[0].startswith("symbols of app were not read in time")
    assert notes[1].startswith("symbols of the kernel were not read in time")
    assert len(world.worker.asked) == 1


async def test_the_worker_is_not_ended_while_another_profile_asks_it(world: World) -> None:
    asked, answers = asyncio.Event(), asyncio.Event()

    async def answering() -> None:
        asked.set()
        await answers.wait()

    world.worker.answering = answering
    async with asyncio.TaskGroup() as tasks:
        profiling = tasks.create_task(world.folded(row(app(1))))
        await asked.wait()
        resting = tasks.create_task(world.symbolising.rest())
        for _ in range(10):
            await asyncio.sleep(0)
        assert (world.worker.stops, resting.done()) == (0, False)
        answers.set()
    assert profiling.result()[0] == ["main.main 1"]
    assert world.worker.stops == 2
