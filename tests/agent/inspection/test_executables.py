import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_agent.inspection import executables as module
from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime
from nemutator_agent.inspection.executables import Executables, Program
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    WorkerFailedError,
)
from nemutator_agent.inspection.identities import ProcessId
from nemutator_common import names

from tests.fakes.clocks import ManualClock
from tests.fakes.executables import ScriptedPrograms, ScriptedWorker, program
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

GO = DetectedRuntime("go", "go1.26.8")
ONE, TWO = ProcessId(1, 0), ProcessId(2, 0)


class Bench:
    def __init__(self) -> None:
        self.programs, self.worker = ScriptedPrograms(), ScriptedWorker()
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.executables = Executables(
            self.programs,
            self.worker,
            process=fake_process(clock=self.clock, meter=self.meter, roll=0.0),
        )

    async def look(self, **commands: bytes) -> None:
        """p1=b"app" is process 1 with that command; then everything that waits is worked off."""
        self.executables.follow({ProcessId(int(n[1:]), 0): c for n, c in commands.items()})
        for _ in range(20):
            await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.executables.run())
            yield
            task.cancel()
        assert self.programs.open_files == 0


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_one_executable_is_examined_once_for_all_its_processes(bench: Bench) -> None:
    bench.programs.of = {ONE: program("/app", 5), TWO: program("/app", 5)}
    bench.worker.answers[5] = GO
    async with bench.running():
        for _ in range(5):
            await bench.look(p1=b"app", p2=b"app")
    assert bench.executables.runtimes == {ONE: GO, TWO: GO}
    assert bench.worker.asked == [5]


async def test_a_settled_process_is_left_alone_until_its_command_changes(bench: Bench) -> None:
    bench.programs.of = {ONE: program("/app", 5)}
    async with bench.running():
        for _ in range(10):
            await bench.look(p1=b"sh")
        assert len(bench.programs.opened) == 3
        bench.programs.of = {ONE: program("/usr/bin/python3.11", 6)}
        await bench.look(p1=b"python3.11")
    assert bench.executables.runtimes[ONE] == DetectedRuntime("python", "3.11")


async def test_the_dead_are_forgotten(bench: Bench) -> None:
    async with bench.running():
        await bench.look(p1=b"app")
        await bench.look(p2=b"app")
    assert list(bench.executables.runtimes) == [TWO]


async def test_where_we_may_not_look_the_command_is_what_there_is(bench: Bench) -> None:
    bench.programs.of = {ONE: HiddenFileError()}
    async with bench.running():
        await bench.look(p1=b"node")
        assert bench.executables.runtimes[ONE] == DetectedRuntime("node", None)
        assert bench.executables.denied == 1
        await bench.look()
    assert bench.executables.denied == 0


async def test_two_of_one_program_are_told_apart_by_their_scripts(bench: Bench) -> None:
    bench.programs.of = {ONE: program("/usr/bin/python3", 5), TWO: HiddenFileError()}
    bench.programs.words = {
        ONE: (b"python3", b"/srv/shop/main.py", b"--token=hunter2"),
        TWO: (b"python3", b"-m", b"gunicorn", b"hunter2"),
    }
    async with bench.running():
        await bench.look(p1=b"python3", p2=b"python3")
    scripts = {process: found.script for process, found in bench.executables.runtimes.items()}
    assert scripts == {ONE: "/srv/shop/main.py", TWO: "-m gunicorn"}


async def test_what_makes_the_worker_fail_is_tried_once_and_the_next_goes_on(bench: Bench) -> None:
    bench.programs.of = {ONE: program("/bin/bash", 5), TWO: program("/app", 6)}
    bench.worker.answers = {5: WorkerFailedError("hung"), 6: GO}
    async with bench.running():
        await bench.look(p1=b"bash", p2=b"app")
        assert bench.executables.runtimes[TWO] == UNKNOWN
        await bench.clock.advance(1)
        await bench.look(p1=b"bash", p2=b"app")
    assert bench.executables.runtimes == {ONE: DetectedRuntime("shell", None), TWO: GO}
    assert bench.worker.asked == [5, 6]
    assert bench.meter.value(names.INSPECTIONS, result="hung") == 1


async def test_a_file_system_that_does_not_answer_is_counted(bench: Bench) -> None:
    bench.programs.of = {ONE: FileSystemStuckError()}
    async with bench.running():
        await bench.look(p1=b"app")
    assert bench.meter.value(names.INSPECTIONS, result="stuck") == 1


async def test_a_program_that_is_no_regular_file_goes_by_its_name(bench: Bench) -> None:
    bench.programs.of = {ONE: Program("/usr/bin/perl", None, None)}
    async with bench.running():
        await bench.look(p1=b"perl")
    assert bench.executables.runtimes[ONE] == DetectedRuntime("perl", None)
    assert bench.worker.asked == []


async def test_too_many_at_once_wait_for_their_next_look(bench: Bench) -> None:
    many = {ProcessId(number, 0): b"x" for number in range(module.MOST_WAITING + 3)}
    bench.executables.follow(many)
    assert bench.meter.value(names.INSPECTIONS, result="queue_full") == 3
