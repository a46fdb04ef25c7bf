"""Functions of Python, which writes where it has put them: since 3.12, with `-X perf`.

They are on stacks where the interpreter keeps frame pointers, as Ubuntu's does since 24.04.
"""

import asyncio
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.symbols.wanted import TaskAddresses
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile, Stack
from nemutator_common.wire import ProfileTarget

from tests.fakes.process import fake_process
from tests.processes import cpu_seconds
from tests.testbed.running.waiting import until

PYTHONS = os.environ.get("OTHER_PYTHON", "python3.14:python3.13:python3.12").split(":")
"""Commands or paths."""

PROGRAM = """\
import sys
def price():
    print("begun", flush=True)
    sys.stdin.readline()
    while True:
        sum(range(100))
def serve():
    price()
serve()
"""

HZ, ENOUGH_S = 199, 1.0

FUNCTIONS = ("price", "serve", "<module>")


def knows_perf(python: str) -> bool:
    asked = [python, "-X", "perf", "-c", "import sys; assert sys.is_stack_trampoline_active()"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def keeps_frame_pointers(python: str) -> bool:
    """As it says of the way in which it was built."""
    asked = "import sysconfig; print(sysconfig.get_config_var('PY_CORE_CFLAGS'))"
    said = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout
    return "-fno-omit-frame-pointer" in said


@dataclass
class Python:
    process: "subprocess.Popen[bytes]"
    functions: dict[int, str]
    """What it has told of the functions of its program: an address in each, and its name."""

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


@contextmanager
def running(python: str, program: Path) -> Iterator[Python]:
    program.write_text(PROGRAM)
    command = [python, "-X", "perf", str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        names = Path(f"/tmp/perf-{process.pid}.map")
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            told = [line.split(" ", 2) for line in names.read_text().splitlines()]
            of_program = [(start, name) for start, _, name in told if str(program) in name]
            yield Python(process, {int(start, 16) + 1: name for start, name in of_program})
        finally:
            process.kill()
            names.unlink(missing_ok=True)


@pytest.fixture(params=PYTHONS)
def python(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    found = shutil.which(name)
    if found is None or not knows_perf(found):
        pytest.skip(f"no {name} that knows -X perf: name one with OTHER_PYTHON")
    return found


@pytest.fixture
def symboliser() -> Iterator[WorkerSymboliser]:
    worker = symbol_worker()
    yield WorkerSymboliser(ProcMaps(), worker, fake_process())
    worker.stop()


async def test_functions_of_python_have_their_names(
    python: str, symboliser: WorkerSymboliser, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    with running(python, program) as one:
        wanted = TaskAddresses((one.process.pid, 0), dict.fromkeys(one.functions, 1), set())
        frames, notes = await symboliser.named(wanted)
    print(f"\n{python}: {sorted(one.functions.values())}; {notes}")
    assert {*one.functions.values()} == {f"py::{name}:{program}" for name in FUNCTIONS}
    assert {address: stack[0].function for address, stack in frames.items()} == one.functions


async def test_they_are_on_stacks_or_the_profile_says_why_not(
    python: str, symboliser: WorkerSymboliser, tmp_path: Path
) -> None:
    program = tmp_path / "shop.py"
    with running(python, program) as one:
        pid = one.process.pid
        resolved = await MachineTargets(KnownGroups()).resolve(ProfileTarget("pid", str(pid)))
        sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
        one.go_on()
        used = functools.partial(cpu_seconds, pid)
        await asyncio.to_thread(until, lambda: used() >= ENOUGH_S, "CPU time", within_s=300)
        samples = await sampling.stop()
        raw = RawProfile(HZ, 0, 1, samples.rows, samples.recorded, samples.lost, None)
        content, notes = await symboliser.symbolise(raw)
    profile = pprof.decode(content)
    callers = sum(count for stack, count in profile.stacks if shows(profile, stack, program))
    assert profile.grade is not None
    print(f"\n{python}: {callers} of {profile.recorded} show it; {profile.grade}; {notes}")
    if keeps_frame_pointers(python):
        assert callers > 0.9 * profile.recorded
        assert profile.grade.rooted > 0.9 * profile.recorded
        assert not any(HIDES in note for note in notes)
    else:
        assert callers == 0
        assert profile.grade.rooted < 0.1 * profile.recorded
        assert any(note.startswith(f"perf-{pid}.map ") and HIDES in note for note in notes)


HIDES = "without frame pointers hides what it runs"


def shows(profile: Profile, stack: Stack, program: Path) -> bool:
    """Whether its functions call each other there, from the outermost."""
    told = [profile.frames[number].function for number in reversed(stack)]
    own = [name for name in told if name.startswith("py::")]
    return own[:3] == [f"py::{name}:{program}" for name in reversed(FUNCTIONS)]
