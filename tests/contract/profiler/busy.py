"""Programs that use CPU time until they are ended, and how much they have used."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nemutator_agent.profiler.cpu_time import parse_process_cpu

from tests.testbed.running.waiting import until

SPIN = "while True: sum(range(1000))"


@contextlib.contextmanager
def busy(code: str = SPIN) -> Iterator[int]:
    """A Python process that runs *code*."""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def cpu_seconds(pid: int) -> float:
    content = Path(f"/proc/{pid}/stat").read_bytes()
    return parse_process_cpu(content, ticks_per_s=os.sysconf("SC_CLK_TCK")) or 0.0


def until_used(pid: int, seconds: float) -> None:
    """Wait until the process has used so much more."""
    before = cpu_seconds(pid)
    until(lambda: cpu_seconds(pid) >= before + seconds, "CPU time", within_s=30 + 10 * seconds)
