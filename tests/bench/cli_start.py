"""How long the two quickest commands take, from their start to their end, as a shell sees it."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.frame import Result, aim

RUNS = 20
AIM_MS = 150.0


def bench() -> Result:
    nemutator = str(Path(sys.executable).with_name("nemutator"))
    measured = {word: _median_ms((nemutator, word)) for word in ("version", "--help")}
    peers = {code: _median_ms((sys.executable, "-c", code)) for code in ("pass", "import aiohttp")}
    return Result(
        measured={f"{word} (median ms)": value for word, value in measured.items()},
        peers={f"python -c {code!r} (median ms)": value for code, value in peers.items()},
        aims=tuple(
            aim(f"nemutator {word}, ms", value, "<=", AIM_MS) for word, value in measured.items()
        ),
    )


def _median_ms(argv: Sequence[str]) -> float:
    return round(statistics.median(_run_ms(argv) for _ in range(RUNS)), 1)


def _run_ms(argv: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1e3
