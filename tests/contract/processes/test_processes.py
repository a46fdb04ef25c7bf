"""What `up` may expect of a child process: of the directed ones, and of real ones."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up.child import ChildProcess
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.processes import LocalProcesses, readable_at_end
from nemutator_ctl.up.restarts import Ended, Scheduling

from tests.fakes.processes import FakeChild, FakeProcesses
from tests.processes import alive
from tests.testbed.running.waiting import until

PATIENCE_S = 60.0

EXITS_7 = "raise SystemExit(7)"
SEGFAULTS = "import os; os.kill(os.getpid(), 11)"
OBEYS = "import sys, signal; signal.signal(15, lambda *_: sys.exit(0)); sys.stdin.read()"
STUBBORN = (
    "import signal, sys; signal.signal(15, signal.SIG_IGN)\n"
    "print('deaf', flush=True)\nwhile True: signal.pause()"
)


@dataclass
class Scene:
    """How each kind of processes gets a child that behaves as a program says."""

    start: Callable[[str], ChildProcess]


def _directed(program: str) -> ChildProcess:
    def made(child: FakeChild) -> None:
        child.obeys = program == OBEYS
        if program == EXITS_7:
            child.end(Ended(7))
        if program == SEGFAULTS:
            child.end(Ended(-11))

    return FakeProcesses(made).start(Command(("x",)))


def _real(program: str) -> ChildProcess:
    return LocalProcesses().start(Command((sys.executable, "-S", "-c", program)))


@pytest.fixture(params=[_directed, _real], ids=["fake", "real"])
def scene(request: pytest.FixtureRequest) -> Scene:
    return Scene(request.param)


async def end_of(child: ChildProcess) -> Ended:
    async with asyncio.timeout(PATIENCE_S):
        return await child.ended()


@pytest.mark.parametrize(("program", "how"), [(EXITS_7, 7), (SEGFAULTS, -11)])
async def test_the_end_of_a_child_says_how(scene: Scene, program: str, how: int) -> None:
    child = scene.start(program)
    assert child.pid > 0
    assert await end_of(child) == Ended(how)
    assert child.poll() == Ended(how)


async def test_one_that_listens_ends_when_it_is_asked(scene: Scene) -> None:
    child = scene.start(OBEYS)
    assert child.poll() is None
    child.ask_to_stop()
    assert (await end_of(child)).code in (0, -signal.SIGTERM)


async def test_one_that_does_not_is_killed(scene: Scene) -> None:
    child = scene.start(STUBBORN)
    assert child.kill()
    assert await end_of(child) == Ended(-signal.SIGKILL)


async def test_what_has_ended_may_be_asked_and_killed_again(scene: Scene) -> None:
    child = scene.start(EXITS_7)
    await end_of(child)
    child.ask_to_stop()
    child.kill()
    assert child.poll() == Ended(7)


async def test_one_that_waits_is_seen_waiting(scene: Scene) -> None:
    child = scene.start(OBEYS)
    until(lambda: child.scheduling().state == "S", "its wait", within_s=PATIENCE_S)
    assert child.scheduling().waited_s >= 0.0
    child.kill()
    await end_of(child)


def seen_as(child: ChildProcess, states: str) -> Callable[[], bool]:
    return lambda: child.scheduling().state in states


async def test_a_stopped_one_is_seen_stopped_until_it_goes_on() -> None:
    child = _real(OBEYS)
    for sent, states in ((signal.SIGSTOP, "T"), (signal.SIGCONT, "SRD")):
        os.kill(child.pid, sent)
        until(seen_as(child, states), f"one of {states}", within_s=PATIENCE_S)
    child.kill()
    await end_of(child)


async def test_what_waits_for_a_processor_is_counted_as_the_kernel_counts_it() -> None:
    rivals = [_real("while True: pass") for _ in range(2)]
    for rival in rivals:
        os.sched_setaffinity(rival.pid, {min(os.sched_getaffinity(0))})
    until(
        lambda: all(rival.scheduling().waited_s > 0.05 for rival in rivals),
        "a wait of each for the one processor",
        within_s=PATIENCE_S,
    )
    for rival in rivals:
        rival.kill()
        await end_of(rival)
        assert rival.scheduling() == Scheduling("", 0.0)


async def test_a_wait_may_be_given_up(scene: Scene) -> None:
    child = scene.start(OBEYS)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await child.ended()
    assert child.poll() is None
    child.kill()
    await end_of(child)


async def test_a_real_one_that_ignores_the_request_lives_until_it_is_killed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = _real(STUBBORN)
    said = ""
    async with asyncio.timeout(PATIENCE_S):
        while "deaf" not in said:  # and so its output is ours
            await asyncio.sleep(0)
            said += capfd.readouterr().out
    child.ask_to_stop()
    await asyncio.to_thread(os.sched_yield)
    assert child.poll() is None
    assert child.kill()
    assert await end_of(child) == Ended(-signal.SIGKILL)


async def test_the_lifeline_alone_ends_a_real_one_whose_supervisor_is_killed(
    tmp_path: Path,
) -> None:
    pid_file = tmp_path / "pid"
    supervisor = (
        "import os, sys, pathlib\n"
        "from nemutator_ctl.up.processes import LocalProcesses\n"
        "from nemutator_ctl.up.command_lines import Command\n"
        "child = LocalProcesses().start(Command((sys.executable, '-S', '-c',"
        " 'import sys; sys.stdin.read()')))\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    above = LocalProcesses().start(Command((sys.executable, "-c", supervisor)))
    assert await end_of(above) == Ended(-signal.SIGKILL)
    pid = int(pid_file.read_text())
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ProcessLookupError):
            await readable_at_end(pid)


async def test_what_a_real_one_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    leaves = (
        "import subprocess, pathlib\n"
        "left = subprocess.Popen(['sleep', '600'])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(left.pid))\n"
    )
    assert await end_of(_real(leaves)) == Ended(0)
    left = int(pid_file.read_text())
    until(lambda: not alive([left]), "the end of what was left behind", within_s=PATIENCE_S)


async def test_a_program_that_is_not_there_is_an_error_for_a_person() -> None:
    with pytest.raises(OperatorError, match="/nowhere/python: No such file") as caught:
        LocalProcesses().start(Command(("/nowhere/python",)))
    assert caught.value.code is ExitCode.CHILD_DIED
