"""Waits of threads in the kernel that have not ended, from the map of bpf/nemutator_bpf/off_cpu.bpf.c."""

import struct
from collections.abc import Iterable

from nemutator_agent.profiler.bpf_maps import COUNT, LOST, ROW, Counters

_HEAD = struct.Struct("=QII")
WAIT_BYTES = _HEAD.size + ROW.size


def unended(
    waits: Iterable[bytes], *, now_ns: int
) -> tuple[tuple[tuple[bytes, bytes], ...], Counters]:
    """The rows of *waits* with how long each has lasted by *now_ns*, and what that adds to the counters.

    The kernel's clock is that of CLOCK_MONOTONIC.
    """
    rows: list[tuple[bytes, bytes]] = []
    sums = dict.fromkeys(Counters._fields, 0)
    for wait in waits:
        since, loss, truncated = _HEAD.unpack_from(wait)
        amount = max(0, now_ns - since)
        sums["ticks"] += amount
        if loss:
            sums[LOST[loss - 1]] += amount
            continue
        sums["recorded"] += amount
        sums["truncated"] += amount if truncated else 0
        rows.append((wait[_HEAD.size :], COUNT.pack(amount)))
    return tuple(rows), Counters(**sums)
