"""Programs that use CPU time until they are ended."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.processes import cpu_seconds
from tests.testbed.running.waiting import until

AGREES = 0.3
"""How far samples may be from the kernel's account: a machine that does much else wakes
timers late. What is promised is measured in the bench."""

SPIN = "while True: sum(range(1000))"
WITHOUT_ITS_FIRST_THREAD = """
import ctypes, os, platform, threading
def spin():
    while True: sum(range(1000))
threading.Thread(target=spin).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""
"""Its first thread ends alone (exit(2), and not that of the C library), and leaves a zombie."""

BURSTS = """
import time
while True:
    end = time.perf_counter() + 0.0004
    while time.perf_counter() < end: pass
    time.sleep(0.004)
"""
"""It never runs for as long as a clock takes to tick."""


@contextlib.contextmanager
def busy(code: str = SPIN) -> Iterator[int]:
    """A Python process that runs *code*."""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def until_used(pid: int, seconds: float) -> None:
    """Wait until the process has used so much more."""
    before = cpu_seconds(pid)
    until(lambda: cpu_seconds(pid) >= before + seconds, "CPU time", within_s=60 + 60 * seconds)
