"""CPU windows of `nemutator-agent observe`: the profiler's sampler and its names, for the whole node."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nemutator_common.windows import LONGEST_NAME, SymbolFrame
from nemutator_common.wire import Missing

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.heap.reading import GoProgram, HeapReader
from nemutator_agent.profiler.ports import Sampling
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_agent.profiler.turn_taking import SamplingTurns
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_agent.usage.text import clean
from nemutator_agent.windows.cpu_functions import NodeSamples, ProcessSamples, rate
from nemutator_agent.windows.cpu_reading import CpuBounds
from nemutator_agent.windows.observed import KnownProgram, NotReadError, ObservedProcess

StartedTicks = Callable[[int], int | None]

WHOLE_NODE = TargetSelection("group", 1)
"""The root of version 2, which every kernel has, mounted or not, and in which all processes are: the
number of a hierarchy's root is 1."""

AT_ONCE = 8
"""Processes that get names together: somebody who asks for a profile meanwhile waits for no more."""


@dataclass(frozen=True, slots=True)
class SampleNode:
    """The `CpuSampler` of the profiler's parts."""

    turns: SamplingTurns
    symbols: WorkerSymboliser
    programs: HeapReader
    started_ticks: StartedTicks

    @property
    def is_wanted(self) -> bool:
        return self.turns.is_wanted

    async def begin(
        self, processes: Sequence[ObservedProcess], *, hz: int
    ) -> "NodeSampling | None":
        texts = {}
        for one in processes:
            if self.is_wanted:
                return None
            text = await self.symbols.range_of(one.id.pid)
            if text is not None:
                texts[one.id.pid] = text
        try:
            sampling = await self.turns.start_unasked(WHOLE_NODE, hz=hz, texts=texts)
        except ProfileRefused as refusal:
            raise _not_read(refusal) from refusal
        finally:
            # Otherwise the worker would keep its memory as long as the window takes.
            await self.symbols.rest()
        return NodeSampling(self, sampling) if sampling is not None else None

    async def samples_of(
        self, processes: Sequence[ObservedProcess], samples: Samples
    ) -> NodeSamples:
        found: dict[ProcessId, ProcessSamples | Missing] = {}
        for at in range(0, len(processes), AT_ONCE):
            found |= await self._named(processes[at : at + AT_ONCE], samples.rows)
        return NodeSamples(
            recorded=samples.recorded, lost=sum(samples.lost.values()), processes=found
        )

    async def _named(
        self, processes: Iterable[ObservedProcess], rows: Iterable[RawRow]
    ) -> dict[ProcessId, ProcessSamples | Missing]:
        programs: dict[ProcessId, GoProgram] = {}
        found: dict[ProcessId, ProcessSamples | Missing] = {}
        for one in processes:
            try:
                programs[one.id] = await program_of(self.programs, self.started_ticks, one.id)
            except ProfileRefused as refusal:
                if refusal.reason != "gone":
                    found[one.id] = _missing(refusal)
        tasks = {(one.pid, program.task_image): one for one, program in programs.items()}
        ours = [row for row in rows if row.task in tasks]
        names = await self.symbols.names_of(ours)
        stacks: dict[ProcessId, list[tuple[tuple[SymbolFrame, ...], int]]] = {}
        for row in ours:
            frames = tuple(
                SymbolFrame(
                    clean(one.function, longest=LONGEST_NAME),
                    clean(one.file, longest=LONGEST_NAME),
                    one.start_line,
                )
                for one in names.frames(row)
            )
            stacks.setdefault(tasks[row.task], []).append((frames, row.count))
        return found | {
            one: ProcessSamples(known_program(program), tuple(stacks.get(one, ())))
            for one, program in programs.items()
        }


@dataclass(frozen=True, slots=True)
class NodeSampling:
    """The `CpuSampling` of one window."""

    sampler: SampleNode
    sampling: Sampling

    async def until_wanted(self) -> None:
        await self.sampler.turns.until_wanted()

    async def end(self, processes: Sequence[ObservedProcess]) -> NodeSamples:
        try:
            samples = await self.sampling.stop()
        except ProfileRefused as refusal:
            raise _not_read(refusal) from refusal
        return await self.sampler.samples_of(processes, samples)

    async def discard(self) -> None:
        await self.sampling.discard()


def cpu_bounds(settings: ObserveSettings) -> CpuBounds:
    pace = settings.window_pace
    hz = rate(hz=settings.window_hz, seconds=pace.cpu_s, cpus=os.cpu_count() or 1)
    return CpuBounds(seconds=pace.cpu_s, every_s=pace.cpu_every_s, hz=hz)


async def program_of(
    reader: HeapReader, started_ticks: StartedTicks, process: ProcessId, *, counted: bool = False
) -> GoProgram:
    """Raises ProfileRefused; nothing of another process is read that has its number by now."""
    return await reader.program_of(
        process.pid,
        is_meant=lambda: started_ticks(process.pid) == process.started_ticks,
        counted=counted,
    )


def known_program(program: GoProgram) -> KnownProgram:
    return KnownProgram(
        clean(program.name, longest=LONGEST_NAME),
        clean(program.version, longest=LONGEST_NAME),
        program.image,
    )


def _not_read(refusal: ProfileRefused) -> NotReadError:
    return NotReadError(refusal.reason, _missing(refusal))


def _missing(refusal: ProfileRefused) -> Missing:
    return Missing(*(clean(one, longest=500) for one in ("cpu", refusal.what, refusal.remedy)))
