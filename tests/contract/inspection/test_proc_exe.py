"""`/proc/PID/exe` for real."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.inspection.proc_exe import MOST_BYTES, ProcExecutables
from nemutator_agent.usage.cached_files import read_once
from nemutator_agent.usage.process_stat import parse_process_stat

EXECUTABLE = os.path.realpath(sys.executable)


def started_ticks(pid: int) -> int | None:
    content = read_once(f"/proc/{pid}/stat")
    return None if content is None else parse_process_stat(content).started_ticks


@pytest.fixture
def dead() -> int:
    with subprocess.Popen([sys.executable, "-I", "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_the_executable_of_a_living_process_is_opened() -> None:
    own = ProcessId(os.getpid(), started_ticks(os.getpid()) or 0)
    programs = ProcExecutables(started_ticks)
    program = await programs.open(own)
    try:
        assert program.name == EXECUTABLE
        assert program.file is not None
        assert os.pread(program.file, 4, 0) == b"\x7fELF"
        assert not os.get_inheritable(program.file)
    finally:
        programs.close(program)


async def test_another_process_under_its_number_is_not_taken_for_it() -> None:
    programs = ProcExecutables(started_ticks)
    files = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ProcessGoneError):
        await programs.open(ProcessId(os.getpid(), 1))
    assert len(os.listdir("/proc/self/fd")) == files


async def test_the_dead_are_gone(dead: int) -> None:
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await ProcExecutables(started_ticks).open(ProcessId(dead, 1))


@pytest.fixture
def talkative() -> Iterator[int]:
    words = [sys.executable, "-I", "-c", "input()", "x" * MOST_BYTES]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate()


async def test_the_words_that_a_process_was_started_with_are_read(talkative: int) -> None:
    process = ProcessId(talkative, started_ticks(talkative) or 0)
    words = await ProcExecutables(started_ticks).command_line(process)
    # Half a word, at the end of what is read, is none.
    assert words == (sys.executable.encode(), b"-I", b"-c", b"input()")


async def test_the_words_of_another_process_under_its_number_are_not_taken(dead: int) -> None:
    programs = ProcExecutables(started_ticks)
    for process in (ProcessId(os.getpid(), 1), ProcessId(dead, 1)):
        with pytest.raises(ProcessGoneError):
            await programs.command_line(process)
