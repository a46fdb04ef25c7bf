"""The symbol worker and the files of a process for real."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError, WorkerFailedError
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.messages import SymbolQuestion
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.worker_process import SymbolWorkerProcess
from nemutator_common.profiles.model import Frame

from tests.fakes.go_programs import TEXT, Function, GoProgram

EXECUTABLE = os.path.realpath(sys.executable)

HANGS = "import sys, time; time.sleep(60)"
DIES = "import sys"
_CONNECT = "import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.recv(70000);"
TALKS_NONSENSE = _CONNECT + " s.send(b'[1, 2]'); s.recv(1)"
NEVER_ENDS = _CONNECT + " [s.send(bytes(65536)) for _ in range(1 << 20)]"


@pytest.fixture
def worker() -> Iterator[SymbolWorkerProcess]:
    process = SymbolWorkerProcess()
    yield process
    process.stop()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app"
    path.write_bytes(GoProgram().build())
    return path


def children() -> set[int]:
    threads = Path("/proc/self/task").iterdir()
    return {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


@pytest.fixture
def dead() -> int:
    with subprocess.Popen([sys.executable, "-I", "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.slow
async def test_it_answers_about_the_files_it_is_handed(
    worker: SymbolWorkerProcess, program: Path, tmp_path: Path
) -> None:
    before = children()
    # More than it keeps, and than it may have open with those.
    others = [tmp_path / f"other{number}" for number in range(20)]
    for other in others:
        other.write_bytes(GoProgram(newer=False).build())
    question = SymbolQuestion(False, (TEXT, 5), (TEXT,))
    for path in (program, *others, program):
        with path.open("rb") as file:
            answer = await worker.ask(question, file.fileno())
        assert [frame.function for frame in answer.frames] == ["main.main"]
        assert (answer.places, answer.depths) == (((0,), None), (0,))
    (pid,) = children() - before
    status = status_of(pid)
    assert "NoNewPrivs:\t1\n" in status
    if os.geteuid() == 0:
        assert "Uid:\t65534\t65534\t65534\t65534\n" in status
        assert f"CapEff:\t{'0' * 16}\n" in status
    assert len(os.listdir(f"/proc/{pid}/fd")) < 16


@pytest.mark.slow
async def test_an_answer_may_take_many_messages(
    worker: SymbolWorkerProcess, tmp_path: Path
) -> None:
    functions = tuple(Function(f"main.{'x' * 1500}{number}", 16) for number in range(400))
    (tmp_path / "app").write_bytes(GoProgram(functions=functions).build())
    places = tuple(TEXT + 16 * number for number in range(400))
    with (tmp_path / "app").open("rb") as file:
        answer = await worker.ask(SymbolQuestion(False, places), file.fileno())
    assert [frame.function for frame in answer.frames] == [one.name for one in functions]


@pytest.mark.slow
async def test_the_kernels_list_is_read(worker: SymbolWorkerProcess, tmp_path: Path) -> None:
    (tmp_path / "kallsyms").write_bytes(b"ffffffff81000000 T first\n" * 10_000)
    with (tmp_path / "kallsyms").open("rb") as file:
        answer = await worker.ask(SymbolQuestion(True, (0xFFFFFFFF81000001,)), file.fileno())
    assert answer.frames == (Frame("first", kind="kernel"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "reason"),
    [(HANGS, "hung"), (DIES, "died"), (TALKS_NONSENSE, "nonsense"), (NEVER_ENDS, "nonsense")],
)
async def test_a_worker_that_fails_is_replaced(command: str, reason: str, program: Path) -> None:
    before = children()
    worker = SymbolWorkerProcess(
        command=(sys.executable, "-I", "-c", command), answer_s=0.2 if reason == "hung" else 10
    )
    with program.open("rb") as file:
        for _ in range(2):
            with pytest.raises(WorkerFailedError) as failure:
                await worker.ask(SymbolQuestion(False, (TEXT,)), file.fileno())
            assert failure.value.reason == reason
            assert children() == before


async def test_our_own_mappings_lead_to_our_own_executable() -> None:
    files = ProcMaps()
    mappings = await files.mappings(os.getpid())
    mapping = next(one for one in mappings if one.path == EXECUTABLE)
    file = await files.open(os.getpid(), mapping)
    try:
        assert os.fstat(file.file).st_ino == os.stat(EXECUTABLE).st_ino == file.id.inode
        assert not os.get_inheritable(file.file)
    finally:
        files.close(file)


async def test_what_has_ended_is_gone(dead: int) -> None:
    files = ProcMaps()
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.mappings(dead)
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.open(dead, Mapping(0x1000, 0x2000, 0, 1, "/bin/sh"))


def false_proc(root: Path, pid: int, *, maps: bytes = b"") -> Path:
    process = root / "proc" / str(pid)
    (process / "map_files").mkdir(parents=True)
    (process / "maps").write_bytes(maps)
    (process / "stat").write_bytes(b"%d (x) R" % pid + b" 5" * 40)
    return process


async def test_a_path_of_the_process_is_never_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"ours")
    false_proc(tmp_path, 7)
    files = ProcMaps(root=tmp_path)
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.open(7, Mapping(0x1000, 0x2000, 0, 1, str(secret)))


async def test_what_is_no_regular_file_holds_nobody_up(tmp_path: Path) -> None:
    process = false_proc(tmp_path, 7)
    os.mkfifo(process / "map_files" / "1000-2000")
    opened = len(os.listdir("/proc/self/fd"))
    with pytest.raises(HiddenFileError):
        await ProcMaps(root=tmp_path).open(7, Mapping(0x1000, 0x2000, 0, 1, "/x"))
    assert len(os.listdir("/proc/self/fd")) == opened


async def test_a_process_without_mappings_has_ended(tmp_path: Path) -> None:
    false_proc(tmp_path, 7)
    with pytest.raises(ProcessGoneError):
        await ProcMaps(root=tmp_path).mappings(7)
    false_proc(tmp_path, 8, maps=b"1000-2000 r-xp 0 00:00 1 /x\n")
    mappings = await ProcMaps(root=tmp_path).mappings(8)
    assert len(mappings) == 1
    assert mappings.are_of(5)
    assert not mappings.are_of(1)
