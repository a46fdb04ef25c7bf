"""Sampling by the kernel: a clock on each CPU sees where a target spends its CPU time."""

import os
from collections.abc import Mapping

from nemutator_agent.profiler import bpf_maps, perf_events
from nemutator_agent.profiler.bpf_maps import Samples
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

PROGRAM = "sample"
SOURCE = KernelSource(PROGRAM, "PERF_EVENT")

MOST_STACKS = 8192
"""They take 8.5 MiB of the kernel's memory while a session lasts, and are taken out before they are
too many."""

MOST_ROWS = 16384
"""They take 1 MiB. A stack is in several rows: by process, by kernel stack, by words."""

_SAMPLES_TO_ROOM = 4
"""Of so much room one sample is taken to need one part: it may have three stacks of its own."""


class KernelSampler:
    """Samples by eBPF, or says what it lacks for that."""

    def __init__(
        self,
        *,
        most_stacks: int = MOST_STACKS,
        most_rows: int = MOST_ROWS,
        engine: EngineChoice = "auto",
    ) -> None:
        self._engine = engine
        self._entries = {"stacks": most_stacks, "rows": most_rows}

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> "KernelSampling":
        return await in_thread(
            lambda: self._start(selection, hz=hz, texts=texts),
            orphaned=KernelSampling.close,
            within_s=LOADED_S,
        )

    def _start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> "KernelSampling":
        loaded = load(SOURCE, selection, entries=self._entries, choice=self._engine)
        room = min(self._entries.values()) // _SAMPLES_TO_ROOM
        sampling = KernelSampling(loaded, drain_after=max(1, room))
        sampling.begin(texts, lambda: sampling.open_clocks(hz))
        return sampling


class KernelSampling(KernelProgram):
    def __init__(self, loaded: Loaded, *, drain_after: int) -> None:
        super().__init__(loaded, program=PROGRAM)
        self._drain_after = drain_after
        self._clocks: list[int] = []
        self._turn = 0
        self._drained_at = 0

    def open_clocks(self, hz: int) -> None:
        for cpu in perf_events.online_cpus():
            clock = perf_events.open_clock(cpu, hz=hz)
            if clock is None:
                continue
            try:
                self._loaded.attach_to_perf_event(PROGRAM, clock)
            except BaseException:
                os.close(clock)
                raise
            self._clocks.append(clock)
        perf_events.start(self._clocks)

    async def drain(self) -> tuple[SeenProgram, ...]:
        return await in_thread(self._drain)

    async def stop(self) -> Samples:
        return await in_thread(self._stop)

    def _close(self) -> None:
        # The links close the clocks.
        self._clocks.clear()
        super()._close()

    def _drain(self) -> tuple[SeenProgram, ...]:
        with self._lock, self._open():
            of_target = self._counters().of_target
            if of_target - self._drained_at >= self._drain_after:
                self._take_turn()
                self._drained_at = of_target
            return self._programs()

    def _stop(self) -> Samples:
        with self._lock, self._open():
            try:
                perf_events.stop(self._clocks)
                self._loaded.detach()
                self._take(self._loaded.drain, turn=None)
                return bpf_maps.accounted(self._sums, self._counters())
            finally:
                self._close()

    def _take_turn(self) -> None:
        """Take out what there is, while more comes: that has the other turn."""
        ended, self._turn = self._turn, self._turn ^ 1
        self._loaded.put("turns", FIRST, bpf_maps.TURN.pack(self._turn))
        perf_events.settle(self._clocks)
        stacks, rows = self._take(self._loaded.read, turn=ended)
        self._loaded.delete("rows", rows)
        self._loaded.delete("stacks", stacks)
