"""Programs of every kind that Go is used for, profiled by us and by Go's own runtime over the same time."""

import asyncio
import contextlib
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.cpu_time import spent
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile, functions
from nemutator_common.wire import ProfileTarget

from tests.contract.profiler.busy import until_used
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.building import made

KINDS = ("faults", "syscalls", "http", "channels", "garbage", "inlining", "cgo")
HZ = 99
PATIENCE_S = 60.0

LARGE = 0.05
"""Of functions with less, the share is mostly chance."""


@dataclass(frozen=True)
class GoKind:
    """A living program of one kind."""

    kind: str
    process: subprocess.Popen[str]
    file: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def begin(self) -> None:
        """Begin a profile by Go's own runtime, at 100 Hz."""
        self._say("begin")
        self.expect("begun")

    def end(self) -> Profile:
        self._say("end")
        self.expect("ended")
        return pprof.decode(self.file.read_bytes())

    def _say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def expect(self, word: str) -> None:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
        assert ready, f"{self.kind} has not said {word}"
        assert self.process.stdout.readline() == f"{word}\n"


@contextlib.contextmanager
def running(kind: str, folder: Path) -> Iterator[GoKind]:
    file = folder / f"{kind}.pb.gz"
    process = subprocess.Popen(
        [made.go_kinds(cgo=kind == "cgo"), kind, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        program = GoKind(kind, process, file)
        program.expect("ready")
        yield program
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class Both:
    """What was seen of one program over the same time."""

    ours: Profile
    own: Profile

    def differences(self) -> dict[str, float]:
        return differences_of(self.ours, self.own)

    @property
    def difference(self) -> float:
        return difference_of(self.ours, self.own)


async def profiled(program: GoKind, *, cpu_seconds: float, hz: int = HZ) -> Both:
    """Until the program has used so much CPU time."""

    def own() -> Profile:
        program.begin()
        until_used(program.pid, cpu_seconds)
        return program.end()

    return await profiled_beside(program.pid, own, hz=hz)


async def profiled_beside(pid: int, own: Callable[[], Profile], *, hz: int = HZ) -> Both:
    """For as long as it takes to have the program's *own* profile."""
    worker = symbol_worker()
    try:
        resolved = await MachineTargets(KnownGroups()).resolve(ProfileTarget("pid", str(pid)))
        symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter()))
        text = await symboliser.range_of(pid)
        assert text is not None
        sampling = await KernelSampler().start(resolved.selection, hz=hz, texts={pid: text})
        begun, before = time.monotonic(), resolved.cpu_seconds()
        theirs = await asyncio.to_thread(own)
        used = spent(before, resolved.cpu_seconds())
        seconds = time.monotonic() - begun
        samples = await sampling.stop()
        raw = RawProfile(
            hz, time.time(), seconds, samples.rows, samples.recorded, samples.lost, used
        )
        content, _ = await symboliser.symbolise(raw)
    finally:
        worker.stop()
    return Both(pprof.decode(content), theirs)


def differences_of(one: Profile, other: Profile) -> dict[str, float]:
    """By how much the shares of the large functions of Go differ, the largest first."""
    first, second = shares(one), shares(other)
    large = {name for shown in (first, second) for name, share in shown.items() if share >= LARGE}
    found = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in large}
    return dict(sorted(found.items(), key=lambda shown: -abs(shown[1])))


def difference_of(one: Profile, other: Profile) -> float:
    return max(map(abs, differences_of(one, other).values()), default=0.0)


def shares(profile: Profile) -> dict[str, float]:
    """Of each function of the program, the share of samples that were in it or in what it called."""
    total = sum(count for _, count in profile.stacks)
    # Go's own profile alone sees the signal that comes to preempt, and has words for time that it
    # cannot place; it leaves out where goroutines begin.
    return {
        one.function: one.cumulative / total
        for one in functions(profile)
        if one.kind in ("go", "native")
        and one.function not in ("runtime.asyncPreempt", "runtime.goexit")
        and not one.function.startswith("runtime._")
    }
