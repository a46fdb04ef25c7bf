"""Processes of ours as whoever pays for the machine sees them: memory, CPU time, BPF."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.e2e.talking import ask
from tests.processes import children, own_memory
from tests.testbed.running.waiting import until

START_S = 60.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    popen: "subprocess.Popen[bytes]"
    log: Path

    @property
    def family(self) -> tuple[int, ...]:
        """It, and what it has started."""
        return (self.popen.pid, *children(self.popen.pid))

    def rss_anon_mib(self) -> float:
        """Of the whole family."""
        return round(sum(_while_it_runs(own_memory, pid) for pid in self.family) / MIB, 1)

    def memlock_mib(self) -> float:
        return round(self.bpf().memlock / MIB, 2)

    def cpu_s(self) -> float:
        """Used so far; with what children have used that have ended."""
        return sum(_while_it_runs(_cpu_s, pid) for pid in self.family)

    def run_s(self) -> float:
        """The time for which threads of its own have run that run now, by the scheduler's account, which is finer
        than ticks. Threads that end take theirs along."""
        total = 0
        for task in Path(f"/proc/{self.popen.pid}/task").glob("*"):
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def bpf(self) -> "Bpf":
        return bpf_of(self.popen.pid)

    def wait_ready(self, socket: Path) -> None:
        def ready() -> bool:
            if self.popen.poll() is not None:
                raise EndedError(self)
            try:
                return ask(socket, "/readyz").status == 200
            except OSError:
                return False

        until(ready, f"{self.name} is ready", within_s=START_S)

    def wait_until_there(self, path: Path) -> None:
        def there() -> bool:
            if self.popen.poll() is not None:
                raise EndedError(self)
            return path.exists()

        until(there, f"{self.name} has made {path.name}", within_s=START_S)


@dataclass(frozen=True, slots=True)
class Bpf:
    memlock: int
    run_time_ns: int
    run_count: int


def bpf_of(pid: int) -> Bpf:
    """Of the programs and maps that a process holds now."""
    total = {"memlock": 0, "run_time_ns": 0, "run_cnt": 0}
    seen: set[str] = set()
    for info in Path(f"/proc/{pid}/fdinfo").glob("*"):
        with contextlib.suppress(OSError):
            text = info.read_text()
            which = re.search(r"^(?:prog|map)_id:\s*\d+$", text, re.MULTILINE)
            if which is None or which[0] in seen:
                continue
            seen.add(which[0])
            for field in total:
                found = re.search(rf"^{field}:\s*(\d+)$", text, re.MULTILINE)
                total[field] += int(found[1]) if found else 0
    return Bpf(total["memlock"], total["run_time_ns"], total["run_cnt"])


class EndedError(Exception):
    def __init__(self, process: Process) -> None:
        said = process.log.read_text(errors="replace").strip().splitlines()[-1:]
        super().__init__(f"{process.name} ended by itself: {' '.join(said)[:300]}")


@contextlib.contextmanager
def started(
    role: str, folder: Path, *arguments: str, cpu: int | None = None,
    environment: Mapping[str, str] | None = None, module: str = "",
) -> Iterator[Process]:  # fmt: skip
    """`nemutator-agent ROLE` or `nemutator-controller ROLE` until the end of the block; with a *module* that one."""
    package = "controller" if role in ("brain", "admission") else "agent"
    module = module or f"nemutator_{package}"
    argv = [sys.executable, "-m", module, role, "--lifeline", *arguments]
    with running(role, argv, folder, cpu=cpu, environment=environment) as process:
        yield process


@contextlib.contextmanager
def running(
    name: str, argv: list[str], folder: Path, *, cpu: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Process]:  # fmt: skip
    """*argv*, with a standard input that ends with the block, on *cpu* alone when it is given."""
    pinned = [] if cpu is None else ["taskset", "-c", str(cpu)]
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [*pinned, *argv],
            stdin=subprocess.PIPE, stdout=output, stderr=output,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
    try:
        yield Process(name, popen, log)
    finally:
        assert popen.stdin is not None
        popen.stdin.close()
        try:
            popen.wait(timeout=15)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()


@contextlib.contextmanager
def bpf_accounting() -> Iterator[bool]:
    """Let the kernel measure BPF programs, as long as the block lasts; whether it does."""
    switch = Path("/proc/sys/kernel/bpf_stats_enabled")
    try:
        before = switch.read_text()
        switch.write_text("1")
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        switch.write_text(before)


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return sum((times.user, times.system, times.children_user, times.children_system))


def _while_it_runs(measure: Callable[[int], float], pid: int) -> float:
    """Zero for what has ended meanwhile, as workers do."""
    try:
        return measure(pid)
    except psutil.NoSuchProcess:
        return 0.0
