"""What the kernel's own `perf record` sees of a program while we and Go's own runtime profile it.

Where we differ from Go's runtime, it says who errs: it takes its samples by the same clock as we do, and
shares no line of code with us. Names are made as ours are, of a stripped program perf knows none.
"""

import asyncio
import contextlib
import shutil
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.raw import RawProfile, RawRow
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile

from tests.e2e.go_kinds import HZ
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.running.waiting import until

BEGUN_WITHIN_S = 60.0
ENDED_WITHIN_S = 120.0


@dataclass(slots=True)
class Recording:
    """What perf has seen, once it has ended."""

    file: Path
    begun: float = 0.0
    """By the clock of perf's samples, as *ended*."""
    ended: float = 0.0

    def has_begun(self) -> bool:
        """Its first page is written when it records."""
        return self.file.exists() and self.file.stat().st_size > 0

    async def stacks(self, pid: int) -> Counter[tuple[int, ...]]:
        """What is of the program's own file, the leaf first, in the time between."""
        program, shift = code_of(pid)
        script = await asyncio.create_subprocess_exec(
            "perf", "script", "--input", self.file, "--fields", "pid,time,ip,sym,dso",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        output, _ = await script.communicate()
        found: Counter[tuple[int, ...]] = Counter()
        for seen, at, stack in samples(output.decode().splitlines()):
            if seen == pid and self.begun <= at <= self.ended:
                found[tuple(place + shift for place, file in stack if file == program)] += 1
        return found

    async def profile(self, pid: int) -> Profile:
        """The same with names, while the program still lives."""
        stacks = await self.stacks(pid)
        rows = tuple(RawRow(pid, stack, (), (0, 0), count) for stack, count in stacks.items())
        seconds = self.ended - self.begun
        raw = RawProfile(HZ, time.time() - seconds, seconds, rows, stacks.total(), {}, None)
        worker = symbol_worker()
        try:
            symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter()))
            content, _ = await symboliser.symbolise(raw)
        finally:
            worker.stop()
        return pprof.decode(content)


def is_there() -> bool:
    return shutil.which("perf") is not None


def code_of(pid: int) -> tuple[str, int]:
    """The file of the program, and how far its code is in memory from where it is in the file."""
    program = str(Path(f"/proc/{pid}/exe").readlink())
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, rights, offset, *_ = line.split()
        if line.endswith(f" {program}") and "x" in rights:
            return program, int(addresses.partition("-")[0], 16) - int(offset, 16)
    raise ValueError(f"process {pid} has no code of {program}")


Frame = tuple[int, str]
"""The place in the file, and the file."""


def samples(lines: Iterable[str]) -> Iterator[tuple[int, float, list[Frame]]]:
    """Each sample of `perf script`: a line with pid and time, a line for each address, an empty one."""
    head: tuple[int, float] | None = None
    stack: list[Frame] = []
    for line in [*lines, ""]:
        words = line.split()
        if not words:
            if head is not None:
                yield *head, stack
            head, stack = None, []
        elif head is None:
            head = int(words[0]), float(words[1].rstrip(":"))
        else:
            file = line.rpartition(" (")[2].removesuffix(")")
            stack.append((int(words[0], 16), file))


@contextlib.asynccontextmanager
async def recording(folder: Path) -> AsyncIterator[Recording]:
    """While the block lasts, of all processors, as we sample."""
    found = Recording(folder / "perf.data")
    found.file.unlink(missing_ok=True)
    process = await asyncio.create_subprocess_exec(
        "perf", "record", "--quiet", "--all-cpus", "-g", "--clockid", "CLOCK_MONOTONIC",
        f"--freq={HZ}", "--event=cpu-clock", "--output", found.file,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await asyncio.to_thread(until, found.has_begun, "perf records", within_s=BEGUN_WITHIN_S)
        found.begun = time.monotonic()
        yield found
        found.ended = time.monotonic()
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(ENDED_WITHIN_S):
            await process.wait()
