"""The confined worker for real: a process that has given up what it had, for either of its jobs."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from nemutator_agent.app.workers import examination_worker, symbol_worker
from nemutator_agent.inspection.confined_worker import (
    AnswerLimits,
    ConfinedWorker,
    process_cpu_s,
)
from nemutator_agent.inspection.confinement import FIRST_USER
from nemutator_agent.inspection.detected_runtime import (
    LONGEST_ANSWER,
    UNKNOWN,
    DetectedRuntime,
    decode,
)
from nemutator_agent.inspection.failures import WorkerFailedError
from nemutator_agent.profiler.symbols.asking import ask
from nemutator_agent.profiler.symbols.messages import SymbolQuestion
from nemutator_common.profiles.model import Frame

from tests.fakes.elf_files import Forge, inline_info
from tests.fakes.go_programs import TEXT, Function, GoProgram

GO = Forge(contents=[(b".go.buildinfo", inline_info(b"go1.26.8"))]).build()

HANGS = "import signal; signal.pause()"
BURNS = "while True: pass"
DIES = "import sys"
_CONNECT = "import socket, sys; s = socket.socket(fileno=int(sys.argv[2])); s.recv(70000);"
WRONG = _CONNECT + " s.send(b'[7, 7]'); s.recv(1)"
WAITS_FOR_ITS_FILE = (
    "import os, socket, sys; s = socket.socket(fileno=int(sys.argv[2]));\n"
    "while files := socket.recv_fds(s, 70000, 1)[1]: os.read(files[0], 1);"
    ' s.send(b\'{"runtime": null, "version": null}\')'
)
NEVER_ENDS = _CONNECT + " [s.send(bytes(65536)) for _ in range(1 << 20)]"


@pytest.fixture
def examiner() -> Iterator[ConfinedWorker]:
    worker = examination_worker()
    yield worker
    worker.stop()


@pytest.fixture
def symbols() -> Iterator[ConfinedWorker]:
    worker = symbol_worker()
    yield worker
    worker.stop()


def children() -> set[int]:
    """Of this process, dead ones too: a worker that was ended must have been waited for."""
    return {child.pid for child in psutil.Process().children()}


def false_worker(
    program: str,
    *,
    cpu_s: float,
    wall_s: float,
    cpu_s_of: Callable[[int], float] = process_cpu_s,
) -> ConfinedWorker:
    return ConfinedWorker(
        "any.module",
        AnswerLimits(cpu_s=cpu_s, wall_s=wall_s, bytes=LONGEST_ANSWER),
        command=(sys.executable, "-I", "-c", program),
        cpu_s_of=cpu_s_of,
    )


def is_confined(pid: int) -> None:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    process = psutil.Process(pid)
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["CapEff"] == "0" * 16
    if os.geteuid() == 0:
        assert {*process.uids()} == {*process.gids()} == {FIRST_USER + pid}
        assert status["Groups"].strip() == ""
        assert process.num_fds() < 16
    else:  # its memory and files are closed even to the user whose it is
        with pytest.raises(psutil.AccessDenied):
            process.num_fds()
    limits = Path(f"/proc/{pid}/limits").read_text()
    for limit in ("Max processes             0 ", "Max core file size        0 "):
        assert limit in limits


@pytest.mark.slow
async def test_it_finds_the_runtime_of_a_file_and_keeps_nothing(
    examiner: ConfinedWorker, tmp_path: Path
) -> None:
    (tmp_path / "go").write_bytes(GO)
    (tmp_path / "noise").write_bytes(b"\x7fELF" + os.urandom(4096))
    before = children()
    with (tmp_path / "go").open("rb") as file, (tmp_path / "noise").open("rb") as noise:
        assert await examiner.ask(b"?", file.fileno(), decode) == DetectedRuntime("go", "go1.26.8")
        for _ in range(40):  # More than it may have open.
            assert await examiner.ask(b"?", noise.fileno(), decode) == UNKNOWN
    (pid,) = children() - before
    is_confined(pid)
    examiner.stop()
    assert children() == before


@pytest.mark.slow
async def test_it_names_the_addresses_of_files(symbols: ConfinedWorker, tmp_path: Path) -> None:
    before = children()
    program = tmp_path / "app"
    program.write_bytes(GoProgram().build())
    # More than it keeps, and than it may have open with those.
    others = [tmp_path / f"other{number}" for number in range(20)]
    for other in others:
        other.write_bytes(GoProgram(newer=False).build())
    question = SymbolQuestion(False, (TEXT, 5), (TEXT,))
    for path in (program, *others, program):
        with path.open("rb") as file:
            answer = await ask(symbols, question, file.fileno())
        assert [frame.function for frame in answer.frames] == ["main.main"]
        assert (answer.places, answer.depths) == (((0,), None), (0,))
    (pid,) = children() - before
    is_confined(pid)


@pytest.mark.slow
async def test_an_answer_may_take_many_messages(symbols: ConfinedWorker, tmp_path: Path) -> None:
    functions = tuple(Function(f"main.{'x' * 1500}{number}", 16) for number in range(400))
    (tmp_path / "app").write_bytes(GoProgram(functions=functions).build())
    places = tuple(TEXT + 16 * number for number in range(400))
    with (tmp_path / "app").open("rb") as file:
        answer = await ask(symbols, SymbolQuestion(False, places), file.fileno())
    assert [frame.function for frame in answer.frames] == [one.name for one in functions]


@pytest.mark.slow
async def test_the_kernels_list_is_read(symbols: ConfinedWorker, tmp_path: Path) -> None:
    (tmp_path / "kallsyms").write_bytes(b"ffffffff81000000 T first\n" * 10_000)
    with (tmp_path / "kallsyms").open("rb") as file:
        answer = await ask(symbols, SymbolQuestion(True, (0xFFFFFFFF81000001,)), file.fileno())
    assert answer.frames == (Frame("first", kind="kernel"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (HANGS, "hung"),
        (BURNS, "slow"),
        (DIES, "died"),
        (WRONG, "invalid"),
        (NEVER_ENDS, "invalid"),
    ],
)
async def test_a_worker_that_fails_is_replaced(program: str, reason: str, tmp_path: Path) -> None:
    before = children()
    worker = false_worker(
        program, cpu_s=0.2 if reason == "slow" else 30, wall_s=0.2 if reason == "hung" else 60
    )
    with (tmp_path / "file").open("w+b") as file:
        for _ in range(2):
            with pytest.raises(WorkerFailedError) as failure:
                await worker.ask(b"?", file.fileno(), decode)
            assert failure.value.reason == reason
            assert children() == before
    assert reason != "slow" or worker.cpu_s >= 0.4


@pytest.mark.slow
async def test_an_answer_that_comes_late_without_having_cost_cpu_time_is_taken() -> None:
    checks = 0
    reading, writing = os.pipe()

    def cpu_s_of(_: int) -> float:
        nonlocal checks
        checks += 1
        if checks == 10:
            os.write(writing, b"now")
        return 0.0

    worker = false_worker(WAITS_FOR_ITS_FILE, cpu_s=0.001, wall_s=60, cpu_s_of=cpu_s_of)
    try:
        assert await worker.ask(b"?", reading, decode) == UNKNOWN
    finally:
        worker.stop()
        os.close(reading)
        os.close(writing)
    assert checks > 10


@pytest.mark.slow
async def test_a_worker_is_replaced_between_two_questions_before_its_life_is_over(
    tmp_path: Path,
) -> None:
    used_s = {"all": 0.0}
    before = children()
    worker = false_worker(WAITS_FOR_ITS_FILE, cpu_s=30, wall_s=60, cpu_s_of=lambda _: used_s["all"])
    pids: list[int] = []
    with (tmp_path / "file").open("w+b") as file:
        for used_s["all"] in (0.0, 119.0, 121.0):
            assert await worker.ask(b"?", file.fileno(), decode) == UNKNOWN
            pids.append(*(children() - before))
    assert pids[0] == pids[1] != pids[2]
    worker.stop()
