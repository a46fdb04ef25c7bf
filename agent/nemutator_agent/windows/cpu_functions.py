"""In which functions a process was seen in a CPU window: those with most samples, one by one."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common.windows import (
    MOST_FUNCTIONS,
    CpuWindow,
    FunctionSamples,
    FunctionSymbol,
    SymbolFrame,
    function_id,
)
from nemutator_common.wire import Missing

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.observed import KnownProgram

SampledStack = tuple[tuple[SymbolFrame, ...], int]
"""Functions with the lines at which they begin, the innermost first, and how often they were seen so."""

OUTSIDE = SymbolFrame("[no stack]")
"""In place of a stack that has none of the program's functions."""

HIGHEST_LOAD = 16_384
"""Samples of one window that the kernel's maps hold, if no two were equal."""
LOWEST_HZ = 19


@dataclass(frozen=True, slots=True)
class ProcessSamples:
    program: KnownProgram
    stacks: tuple[SampledStack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSamples:
    """A window of a whole node."""

    recorded: int
    """Of all its processes, whether they were chosen or not."""
    lost: int
    processes: Mapping[ProcessId, ProcessSamples | Missing]
    """Those that were chosen and still run the program that was sampled, or why nothing is known."""

    @property
    def lost_share(self) -> float:
        return self.lost / max(self.recorded + self.lost, 1)


Functions = Mapping[str, FunctionSymbol]
"""By their ids."""


def cpu_window(
    stacks: Iterable[SampledStack], *, seconds: float, hz: int, lost_share: float
) -> tuple[CpuWindow, Functions]:
    """As it travels, with what its ids stand for."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    symbols: dict[str, FunctionSymbol] = {}
    for frames, count in stacks:
        ids = [_known(frame, symbols) for frame in frames or (OUTSIDE,)]
        own[ids[0]] += count
        for identity in set(ids):
            total[identity] += count
    told = _told(own, total)
    window = CpuWindow(
        seconds=seconds,
        hz=hz,
        samples=own.total(),
        functions=tuple(
            FunctionSamples(function=one, own=own[one], total=total[one]) for one in told
        ),
        rest_own=own.total() - sum(own[one] for one in told),
        rest_functions=len(total) - len(told),
        lost_share=lost_share,
    )
    return window, {one: symbols[one] for one in told}


def rate(*, hz: int, seconds: float, cpus: int) -> int:
    """The highest rate up to *hz* at which a busy node fits into the kernel's maps, within reason."""
    fitting = int(HIGHEST_LOAD / (seconds * cpus))
    return min(hz, max(fitting, LOWEST_HZ))


def _told(own: "Counter[str]", total: "Counter[str]") -> list[str]:
    half = MOST_FUNCTIONS // 2
    busiest = heapq.nlargest(half, own, key=lambda one: (own[one], one))
    taken = set(busiest)
    others = (one for one in total if one not in taken)
    return busiest + heapq.nlargest(half, others, key=lambda one: (total[one], one))


def _known(frame: SymbolFrame, symbols: dict[str, FunctionSymbol]) -> str:
    identity = function_id(frame.function, frame.file)
    symbols.setdefault(identity, FunctionSymbol(identity, frame.function, frame.file, frame.line))
    return identity
