"""How long the quickest commands take, and one that asks a cluster's brain, as a shell sees it.

The API server and the brain are fakes on loopback (`tests/fakes/forwarding.py`), so what is measured is the
command line: the kubeconfig, four connections with TLS, a forwarded port.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.frame import Result, aim
from tests.fakes.forwarding import ForwardingCluster, forwarding

RUNS = 20
AIM_MS = 150.0
ASKING_AIM_MS = 400.0
ASKING = ("mutations", "-o", "name")


def bench() -> Result:
    nemutator = str(Path(sys.executable).with_name("nemutator"))
    measured = {word: _median_ms((nemutator, word)) for word in ("version", "--help")}
    asking = asyncio.run(_asking_ms(nemutator))
    peers = {
        code: _median_ms((sys.executable, "-c", code))
        for code in ("pass", "import aiohttp", "import kubernetes.client")
    }
    return Result(
        measured={f"{word} (median ms)": value for word, value in measured.items()}
        | {f"{' '.join(ASKING)} by a kubeconfig (median ms)": asking},
        peers={f"python -c {code!r} (median ms)": value for code, value in peers.items()},
        aims=(
            *(
                aim(f"nemutator {word}, ms", value, "<=", AIM_MS)
                for word, value in measured.items()
            ),
            aim("a verb of the API by a kubeconfig, ms", asking, "<=", ASKING_AIM_MS),
        ),
    )


async def _asking_ms(nemutator: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        async with forwarding(ForwardingCluster()) as cluster:
            kubeconfig = str(cluster.kubeconfig(Path(folder)))
            command = (nemutator, "--kubeconfig", kubeconfig, *ASKING)
            return await asyncio.to_thread(_median_ms, command)


def _median_ms(argv: Sequence[str]) -> float:
    return round(statistics.median(_run_ms(argv) for _ in range(RUNS)), 1)


def _run_ms(argv: Sequence[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if "NEMUTATOR" not in name}
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
    return (time.perf_counter() - begun) * 1e3
