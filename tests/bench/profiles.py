"""Profiles of Go programs of every kind, beside those of Go's own runtime over the same time; and what
sampling costs.

`RUNS` (5) and `SECONDS` (30, of CPU time) in the environment make it shorter, to see that it works.
"""

import asyncio
import itertools
import os
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile, RawRow
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles.model import Profile
from nemutator_common.wire import ProfileTarget

from tests.bench import profiles_perf
from tests.bench.first_light_processes import bpf_accounting, bpf_of
from tests.bench.frame import Aim, Result, aim
from tests.bench.profiles_node import cost_of_windows, worker_memory_mib
from tests.bench.profiles_strangers import STRANGERS
from tests.contract.profiler.busy import until_used
from tests.e2e.go_kinds import KINDS, Both, difference_of, profiled, running
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

RUNS = int(os.environ.get("RUNS", "5"))
SECONDS = float(os.environ.get("SECONDS", "30"))

OWN_HZ = 100
RATES = (0, 19, 99, 999)
ADDRESSES = 10_000

MOST_MEDIAN, MOST_OF_ONE = 2.0, 3.5
"""Points. Two perfect samplers at 99 Hz, for 30 s of two CPUs, are more than 2 apart in one of six runs."""


@dataclass(frozen=True)
class Agreement:
    """In points of a share; of single runs where there are several."""

    ours: list[float]
    median: float
    floor: float | None
    """The median of Go's own profile beside its own of the run before."""
    worst: str
    """The function that was furthest off."""
    rooted: float | None
    """In percent, as the next one."""
    real_calls: float | None
    account: float
    """Our samples, by the kernel's account of CPU time; and those of Go's own profile."""
    own_account: float
    perf: float | None
    """The median of ours beside `perf record`; and of Go's own beside that. None without perf."""
    own_perf: float | None


@dataclass(frozen=True)
class Seen:
    """What was seen of one program over the same time."""

    both: Both
    perf: Profile | None


def bench() -> Result:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_bench(Path(folder)))


async def _bench(folder: Path) -> Result:
    agreements = {kind: await _agreement(kind, folder) for kind in KINDS}
    agreements |= {name: await _agreement_of_stranger(name, folder) for name in STRANGERS}
    cost = await _cost(folder)
    binaries = await worker_memory_mib()
    windows = await cost_of_windows()
    overhead = await _overhead()
    aims: list[Aim] = []
    for kind, found in agreements.items():
        aims += [
            aim(f"points, median beside Go's own: {kind}", found.median, "<=", MOST_MEDIAN),
            aim(f"points, each run: {kind}", max(found.ours), "<=", MOST_OF_ONE),
            aim(
                f"account of the kernel, off by %: {kind}", abs(found.account - 1) * 100, "<=", 3.0
            ),
        ]
    aims += [
        aim("us of BPF per sample", cost["bpf_us_per_sample"], "<=", 12.0, reason="not counted"),
        aim("ms from a request to sampling", cost["begin_ms"], "<=", 300.0),
        aim("s to name 10 000 addresses", cost["names_s"], "<=", 1.0),
        aim("MiB of a worker with 20 large Go programs", binaries["worker_mib"], "<=", 64.0),
        aim("% of a CPU for windows of 50 Go pods", windows["percent"], "<=", 1.0),
        aim(
            "frames equal to runtime.CallersFrames, %", None, ">=", 100.0,
            reason="every run of tests/e2e/test_symbols.py holds it",
        ),
    ]  # fmt: skip
    measured: Mapping[str, object] = {
        "runs": RUNS,
        "cpu_seconds": SECONDS,
        "agreement": {kind: asdict(found) for kind, found in agreements.items()},
        "cost": cost,
        "overhead_cpu_s": overhead,
        "twenty_binaries": binaries,
        "windows_of_50": windows,
    }
    return Result(
        measured,
        tuple(aims),
        {
            "Go's own profile beside itself, points": {
                kind: found.floor for kind, found in agreements.items()
            },
            "Go's own profile beside perf record, points": {
                kind: found.own_perf for kind, found in agreements.items()
            },
        },
    )


async def _agreement(kind: str, folder: Path) -> Agreement:
    with running(kind, folder) as program:
        return await _compared(program.pid, folder, lambda: profiled(program, cpu_seconds=SECONDS))


async def _agreement_of_stranger(name: str, folder: Path) -> Agreement:
    with STRANGERS[name]() as program:
        return await _compared(program.pid, folder, lambda: program.profiled(seconds=SECONDS))


async def _compared(pid: int, folder: Path, profile: Callable[[], Awaitable[Both]]) -> Agreement:
    return _agreed([await _seen(pid, folder, profile) for _ in range(RUNS)])


async def _seen(pid: int, folder: Path, profile: Callable[[], Awaitable[Both]]) -> Seen:
    if not profiles_perf.is_there():
        return Seen(await profile(), None)
    async with profiles_perf.recording(folder) as recording:
        both = await profile()
    return Seen(both, await recording.profile(pid))


def _agreed(seen: list[Seen]) -> Agreement:
    runs = [one.both for one in seen]
    beside = [(one.both, one.perf) for one in seen if one.perf is not None]
    floor = [_points(one.own, other.own) for one, other in itertools.pairwise(runs)]
    furthest = max(runs, key=lambda one: one.difference)
    ours = [round(one.difference * 100, 2) for one in runs]
    grade = furthest.ours.grade
    return Agreement(
        ours=ours,
        median=statistics.median(ours),
        floor=round(statistics.median(floor), 2) if floor else None,
        worst=next(iter(furthest.differences()), ""),
        rooted=_percent(grade.rooted_share if grade else None),
        real_calls=_percent(grade.real_share if grade else None),
        account=_median(runs, lambda one: one.ours.sampled_cpu_seconds),
        own_account=_median(runs, lambda one: one.own.recorded / OWN_HZ),
        perf=_middle(_points(both.ours, perf) for both, perf in beside),
        own_perf=_middle(_points(both.own, perf) for both, perf in beside),
    )


def _middle(points: Iterable[float]) -> float | None:
    found = list(points)
    return round(statistics.median(found), 2) if found else None


def _points(one: Profile, other: Profile) -> float:
    return difference_of(one, other) * 100


def _percent(share: float | None) -> float | None:
    return None if share is None else round(share * 100, 2)


def _median(runs: list[Both], cpu_seconds: Callable[[Both], float]) -> float:
    of_kernel = [(one, one.ours.cpu_seconds) for one in runs]
    ratios = [cpu_seconds(one) / used for one, used in of_kernel if used]
    return round(statistics.median(ratios), 3) if ratios else 0.0


async def _cost(folder: Path) -> dict[str, float | None]:
    """Of one program: BPF by the kernel's own measure, the way to the first sample, names."""
    with running("http", folder) as program, bpf_accounting() as accounted:
        worker = symbol_worker()
        try:
            begun = time.monotonic()
            target = ProfileTarget("pid", str(program.pid))
            resolved = await MachineTargets(KnownGroups()).resolve(target)
            symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter()))
            code = await symboliser.code_of(program.pid)
            assert code is not None
            async with AsyncExitStack() as stack:
                sampling = await KernelSampler().start(
                    resolved.selection, hz=99, texts={program.pid: code}
                )
                stack.push_async_callback(sampling.discard)
                begin_ms = (time.monotonic() - begun) * 1e3
                await asyncio.to_thread(until_used, program.pid, SECONDS)
                spent = bpf_of(os.getpid())
                samples = await sampling.stop()
            dice = random.Random(7)
            text = await symboliser.range_of(program.pid)
            assert text is not None
            places = dice.sample(range(*text), ADDRESSES)
            rows = tuple(RawRow(program.pid, (place,), (), (0, 0), 1) for place in places)
            raw = RawProfile(99, time.time(), 1.0, rows, len(rows), {}, None)
            begun, used_s = time.monotonic(), worker.cpu_s + time.process_time()
            await symboliser.symbolise(raw)
            names_s = time.monotonic() - begun
            names_cpu_s = worker.cpu_s + time.process_time() - used_s
        finally:
            worker.stop()
    per_sample = spent.run_time_ns / max(samples.recorded, 1) / 1e3
    return {
        "bpf_us_per_sample": round(per_sample, 2) if accounted and spent.run_count else None,
        "bpf_runs_per_sample": round(spent.run_count / max(samples.recorded, 1), 2),
        "begin_ms": round(begin_ms, 1),
        "names_s": round(names_s, 2),
        "names_cpu_s": round(names_cpu_s, 2),
    }


async def _overhead() -> dict[str, float | str]:
    """CPU seconds that a fixed job of Go takes, by rate: rounds of all rates, so that none has the
    quiet minutes for itself."""
    go = _go_root()
    if go is None:
        return {"not measured": "there is no gofmt on the PATH, which is the job"}
    taken: dict[int, list[float]] = {hz: [] for hz in RATES}
    for _ in range(RUNS):
        for hz in RATES:
            taken[hz].append(await _job(go, hz))
    return {f"{hz} Hz": round(statistics.median(found), 3) for hz, found in taken.items()}


def _go_root() -> Path | None:
    found = shutil.which("gofmt")
    return None if found is None else Path(found).resolve().parents[1]


async def _job(root: Path, hz: int) -> float:
    # The shell becomes the job once sampling has begun.
    before = _of_children()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", 'read go && exec "$0" -l "$1"', root / "bin/gofmt", root / "src/net",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    target = ProfileTarget("pid", str(process.pid))
    resolved = await MachineTargets(KnownGroups()).resolve(target)
    async with AsyncExitStack() as stack:
        if hz:
            sampling = await KernelSampler().start(resolved.selection, hz=hz, texts={})
            stack.push_async_callback(sampling.discard)
        await process.communicate(b"go\n")
    assert process.returncode == 0
    return _of_children() - before


def _of_children() -> float:
    """CPU seconds of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
