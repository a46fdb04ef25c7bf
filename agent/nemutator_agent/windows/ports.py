"""What windows need of others."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nemutator_common.windows import WindowCounters, WindowPause, WindowReading, WindowSymbols
from nemutator_common.wire import Missing

from nemutator_agent.windows.cpu_functions import NodeSamples
from nemutator_agent.windows.heap_sites import Choose, SomeSites
from nemutator_agent.windows.observed import ObservedProcess


class ObservedProcesses(Protocol):
    def now(self) -> Sequence[ObservedProcess]:
        """Those of the latest snapshot."""
        ...


class HeapSites(Protocol):
    async def read(self, process: ObservedProcess, choose: Choose) -> SomeSites:
        """Raises NotReadError. Nothing of another process is read that has its number by now."""
        ...


class RequestedSampling(Protocol):
    @property
    def is_wanted(self) -> bool:
        """Whether a profile of CPU time is made that somebody has asked for, or is about to."""
        ...


class CpuSampling(Protocol):
    """The whole node is sampled."""

    async def until_wanted(self) -> None:
        """Until somebody asks for a profile: then this is to end."""
        ...

    async def end(self, processes: Sequence[ObservedProcess]) -> NodeSamples:
        """End it; to be called once. Only *processes* are looked into. Raises NotReadError."""
        ...

    async def discard(self) -> None:
        """End it without samples; does nothing after `end`."""
        ...


class CpuSampler(RequestedSampling, Protocol):
    async def begin(self, processes: Sequence[ObservedProcess], *, hz: int) -> CpuSampling | None:
        """Sample the node, with what leads to lost callers in *processes*. None while a profile is made
        that somebody has asked for. Raises NotReadError where the kernel refuses it."""
        ...


class KernelCounters(Protocol):
    def read(self, process: ObservedProcess) -> tuple[WindowCounters, tuple[Missing, ...]]:
        """Without a wait; what cannot be had is named."""
        ...


class ChosenPods(Protocol):
    def allow(self, process: ObservedProcess) -> bool:
        """Whether it may be looked at. In doubt it may not."""
        ...


class PodChoices(Protocol):
    async def chosen(self, uids: Sequence[str]) -> Collection[str]:
        """Which of these pods may be looked at now. Raises LinkError."""
        ...


class Costs(Protocol):
    def cpu_s(self) -> float:
        """CPU time of this process and its workers so far."""
        ...

    def memory_bytes(self) -> int:
        """What this process holds now."""
        ...


class WindowSink(Protocol):
    """Takes records without a wait."""

    @property
    def dropped(self) -> int: ...

    def put(self, record: WindowReading | WindowSymbols | WindowPause) -> None: ...
