import subprocess
import sys

import pytest

ARENAS = """
import ctypes, sys, threading
from nemutator_common.thread_memory import share_memory_among_threads

if sys.argv[1] == "shared" and not share_memory_among_threads():
    raise SystemExit("no glibc")
kept = []
threads = [threading.Thread(target=lambda: kept.append(bytearray(50_000))) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


def arenas(choice: str) -> int:
    """How many the C library has made for a process whose threads have taken memory."""
    done = subprocess.run(
        [sys.executable, "-c", ARENAS, choice],
        capture_output=True, text=True, timeout=60.0, check=False,
    )  # fmt: skip
    if "no glibc" in done.stderr:
        pytest.skip("the C library has no arenas")
    assert done.returncode == 0, done.stderr
    return done.stdout.count("<heap nr=")


def test_threads_have_their_memory_from_one_place() -> None:
    assert arenas("shared") == 1
    assert arenas("as it is") > 1
