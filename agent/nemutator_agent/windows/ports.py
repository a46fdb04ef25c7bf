"""What windows need of others."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nemutator_common.windows import WindowCounters, WindowPause, WindowReading, WindowSymbols
from nemutator_common.wire import Missing

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
