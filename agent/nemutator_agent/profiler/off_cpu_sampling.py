"""Where a target's threads are blocked in the kernel, timed at each switch of a CPU between tasks."""

import ctypes
import os
import time
from collections.abc import Mapping
from dataclasses import replace

from nemutator_agent.profiler import bpf_maps, waits
from nemutator_agent.profiler.bpf_maps import Counters, Samples
from nemutator_agent.profiler.kernel_programs import (
    FIRST,
    LOADED_S,
    KernelProgram,
    KernelSource,
    Loaded,
    in_thread,
    load,
)
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.requirements import EngineChoice
from nemutator_agent.profiler.targets import TargetSelection

PROGRAM = "off_cpu"
SOURCE = KernelSource(PROGRAM, "RAW_TRACEPOINT", ("waits", "untimed"))
TRACEPOINT = "sched_switch"

MOST_WAITS = 8192
"""The threads that may be blocked at one time. They take 1.3 MiB of the kernel's memory, and in the longest
session no more nanoseconds than a double holds, which the brain takes."""

_THREAD = 4
_BATCH = 512
_MEMBARRIER = {"x86_64": 324, "aarch64": 283}
_GLOBAL = 1


class OffCpuSampler:
    """A `Sampler` whose samples are nanoseconds that threads were blocked for."""

    def __init__(self, *, most_waits: int = MOST_WAITS, engine: EngineChoice = "auto") -> None:
        self._engine = engine
        self._entries = {"waits": most_waits}

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> "OffCpuSampling":
        """*hz* means nothing here: each wait is timed."""
        return await in_thread(
            lambda: self._start(selection, texts),
            orphaned=OffCpuSampling.close,
            within_s=LOADED_S,
        )

    def _start(
        self, selection: TargetSelection, texts: Mapping[int, tuple[int, int]]
    ) -> "OffCpuSampling":
        sampling = OffCpuSampling(
            load(SOURCE, selection, entries=self._entries, choice=self._engine)
        )
        sampling.begin(texts, sampling.attach)
        return sampling


class OffCpuSampling(KernelProgram):
    def __init__(self, loaded: Loaded) -> None:
        super().__init__(loaded, program=PROGRAM)

    def attach(self) -> None:
        self._loaded.attach_to_tracepoint(PROGRAM, TRACEPOINT)

    async def drain(self) -> tuple[SeenProgram, ...]:
        """Its maps are not emptied meanwhile: a program blocks in few places."""
        return await in_thread(self._drain)

    async def stop(self) -> Samples:
        return await in_thread(self._stop)

    def _drain(self) -> tuple[SeenProgram, ...]:
        with self._lock, self._open():
            return self._programs()

    def _stop(self) -> Samples:
        with self._lock, self._open():
            try:
                self._loaded.detach()
                _settle()
                now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                left = self._loaded.drain(
                    "waits", key_size=_THREAD, value_size=waits.WAIT_BYTES, batch=_BATCH
                )
                rows, counters = waits.unended((wait for _, wait in left), now_ns=now_ns)
                self._take(self._loaded.drain, turn=None, more=rows)
                both = Counters(*map(sum, zip(self._counters(), counters, strict=True)))
                untimed = self._loaded.get_per_cpu("untimed", FIRST, size=bpf_maps.COUNT.size)
                samples = bpf_maps.accounted(self._sums, both)
                return replace(samples, untimed=bpf_maps.sum_counts(untimed))
            finally:
                self._close()


def _settle() -> None:
    """Return when no call of a program is under way that began before this one. Where a kernel does
    not offer that, one wait may be counted twice."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(_MEMBARRIER[os.uname().machine]), _GLOBAL, 0, 0)
