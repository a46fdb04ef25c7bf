"""The worker for real: a process of its own that has given up what it had."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError, WorkerFailedError
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.inspection.proc_exe import ProcExecutables
from nemutator_agent.inspection.verdicts import UNKNOWN, Verdict
from nemutator_agent.inspection.worker_process import WorkerProcess
from nemutator_agent.usage.open_files import read_once
from nemutator_agent.usage.process_stat import parse_process_stat

from tests.fakes.elf_files import Forge, inline_info

EXECUTABLE = os.path.realpath(sys.executable)
GO = Forge(contents=[(b".go.buildinfo", inline_info(b"go1.26.8"))]).build()

HANGS = "import sys, time; time.sleep(60)"
DIES = "import sys"
# Speaks before it is spoken to, and what nobody asked for.
TALKS_NONSENSE = (
    "import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.recv(1); s.send(b'[7, 7]');"
    " s.recv(1)"
)


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    process = WorkerProcess()
    yield process
    process.stop()


def started_ticks(pid: int) -> int | None:
    content = read_once(f"/proc/{pid}/stat")
    return None if content is None else parse_process_stat(content).started_ticks


def children() -> set[int]:
    """Of this process, dead ones too: a worker that was ended must have been waited for."""
    threads = Path("/proc/self/task").iterdir()
    return {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines)


@pytest.fixture
def dead() -> int:
    with subprocess.Popen([sys.executable, "-I", "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.slow
async def test_it_answers_and_keeps_nothing(worker: WorkerProcess, tmp_path: Path) -> None:
    (tmp_path / "go").write_bytes(GO)
    (tmp_path / "noise").write_bytes(b"\x7fELF" + os.urandom(4096))
    before = children()
    with (tmp_path / "go").open("rb") as file, (tmp_path / "noise").open("rb") as noise:
        assert await worker.examine(file.fileno()) == Verdict("go", "go1.26.8")
        for _ in range(40):  # More than it may have open.
            assert await worker.examine(noise.fileno()) == UNKNOWN
    (pid,) = children() - before
    status = status_of(pid)
    assert status["NoNewPrivs"] == "1"
    assert status["CapEff"] == "0" * 16 or os.geteuid() != 0
    if os.geteuid() == 0:
        assert status["Uid"].split() == status["Gid"].split() == ["65534"] * 4
        assert status["Groups"].strip() == ""
    limits = read_once(f"/proc/{pid}/limits") or b""
    for limit in (b"Max processes             0 ", b"Max core file size        0 "):
        assert limit in limits
    worker.stop()
    assert children() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "reason"), [(HANGS, "hung"), (DIES, "died"), (TALKS_NONSENSE, "nonsense")]
)
async def test_a_worker_that_fails_is_replaced(program: str, reason: str, tmp_path: Path) -> None:
    before = children()
    worker = WorkerProcess(
        command=(sys.executable, "-I", "-c", program), answer_s=0.2 if reason == "hung" else 10
    )
    with (tmp_path / "file").open("w+b") as file:
        for _ in range(2):
            with pytest.raises(WorkerFailedError) as failure:
                await worker.examine(file.fileno())
            assert failure.value.reason == reason
            assert children() == before


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
