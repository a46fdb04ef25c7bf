"""What it costs `observe` to see a full node: 110 pods of two containers each, real control groups.

The loop runs in a process of its own at the pace of a cluster (a snapshot every 7.5 s, a report a minute) and
at that of a machine that stands alone (every 3 s both), and its CPU time is counted whole. The peer in the
same run is psutil reading what it knows of the same facts: processes, without groups or networks.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping

import psutil

from tests.bench.frame import Result, aim
from tests.bench.usage_groups import pods

PODS = 110
SECONDS = 90.0
CLUSTER = (7.5, 60.0, 60.0)
ALONE = (3.0, 15.0, 3.0)
"""Seconds between two snapshots, two readings of what is read seldom, and two reports."""

AIM_PERCENT, AIM_WITH_FLOWS_PERCENT = 0.3, 0.5
PEER_SWEEPS = 5


def bench() -> Result:
    with pods(PODS) as pids:
        cluster = _loop(*CLUSTER, flows=False)
        with_flows = _loop(*CLUSTER, flows=True)
        alone = _loop(*ALONE, flows=False)
        sweep_ms = _psutil_ms()
    return Result(
        measured={
            "pods": PODS,
            "processes in pods": len(pids),
            "in a cluster": cluster,
            "in a cluster, with flows": with_flows,
            "standing alone": alone,
        },
        peers={
            "psutil, all processes once (ms of CPU)": sweep_ms,
            "psutil, % of a CPU at the same pace": round(sweep_ms / 10 / CLUSTER[0], 3),
        },
        aims=(
            aim("usage loop at 110 pods, % of a CPU", cluster["percent"], "<=", AIM_PERCENT),
            aim("with flows, % of a CPU", with_flows["percent"], "<=", AIM_WITH_FLOWS_PERCENT),
        ),
    )


def _loop(
    interval_s: float, seldom_s: float, report_s: float, *, flows: bool
) -> Mapping[str, float]:
    """Of a process that has done nothing else."""
    numbers = (SECONDS, interval_s, seldom_s, report_s, int(flows))
    ran = subprocess.run(
        (sys.executable, "-m", "tests.bench.usage_loop", *map(str, numbers)),
        check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    told: Mapping[str, float] = json.loads(ran.stdout)
    return told


def _psutil_ms() -> float:
    wanted = ["pid", "name", "create_time", "cpu_times", "memory_info", "num_threads", "num_fds"]
    begun = 0.0
    for sweep in range(PEER_SWEEPS + 1):
        # The first makes its objects.
        begun = time.process_time() if sweep == 1 else begun
        for process in psutil.process_iter(wanted):
            assert process.info["pid"]
    return round((time.process_time() - begun) / PEER_SWEEPS * 1e3, 1)
