"""Batches of reports, and the strategies that make them."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from nemutator_common.wire import (
    Batch,
    Envelope,
    Missing,
    Pressure,
    Pressures,
    ProcessUsage,
    Report,
    Runtime,
    Workload,
)

from tests.fakes.reports import report

NOW = 1_700_000_000.0


def workload(path: str = "/system.slice/ssh.service") -> Workload:
    return Workload(
        path=path,
        kind="unit",
        name=path.rsplit("/", 1)[-1] or "/",
        container_id=None,
        pod_uid=None,
        processes=1,
        cpu_cores=0.5,
        memory_bytes=1 << 20,
        pressures=Pressures(cpu=Pressure(1.0, 2.0, None, None)),
    )


def process(
    pid: int = 7, *, of: str = "/system.slice/ssh.service", runtime: Runtime | None = "go"
) -> ProcessUsage:
    return ProcessUsage(
        pid=pid,
        started_at=NOW - 100,
        workload=of,
        command="sshd",
        runtime=runtime,
        runtime_version=None,
        threads=1,
        cpu_cores=0.1,
        memory_bytes=4096,
    )


def busy_report(at: float = NOW, *, workloads: int = 3, processes: int = 5) -> Report:
    paths = [f"/system.slice/unit-{number}.service" for number in range(workloads)]
    return replace(
        report(at),
        workloads=tuple(workload(path) for path in paths),
        processes=tuple(process(pid, of=paths[pid % workloads]) for pid in range(1, processes + 1)),
        missing=(Missing("cpu pressure", "the kernel keeps none", "boot with psi=1"),),
    )


def batch(
    seqs: Sequence[int] = (1,), *, node: str = "n1", epoch: str = "e1", at: float = NOW
) -> Batch:
    """One report for each number, a second apart."""
    envelopes = tuple(Envelope(seq, busy_report(at + seq - 1)) for seq in seqs)
    return Batch(node, epoch, envelopes)


sequences = st.lists(st.integers(1, 40), min_size=1, max_size=8, unique=True).map(sorted)
