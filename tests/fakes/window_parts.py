"""What looks of windows ask for, in memory."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.cpu_functions import NodeSamples, ProcessSamples, SampledStack
from nemutator_agent.windows.heap_sites import Choose, SomeSites
from nemutator_agent.windows.observed import (
    KnownProgram,
    NotReadError,
    ObservedProcess,
    RuntimeCounts,
)
from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import (
    SymbolFrame,
    WindowCounters,
    WindowPause,
    WindowReading,
    WindowSymbols,
)
from nemutator_common.wire import Missing

COUNTED = RuntimeCounts(goroutines=12, collections=34, pause_s=40.0)
SHOP = KnownProgram("shop", "go1.26.8", "ab12")


def observed(
    pid: int = 7, *, age_s: float = 4_000.0, is_go: bool = True, pod_uid: str | None = None
) -> ObservedProcess:
    return ObservedProcess(
        id=ProcessId(pid, 100 * pid),
        is_go=is_go,
        version="go1.26.8",
        command="shop",
        started_at=1_700_000_000.0 - age_s,
        age_s=age_s,
        group="/system.slice/shop.service",
        pod_uid=pod_uid,
        container_id=None,
        threads=9,
        cpu_seconds=12.5,
        group_memory_bytes=50 << 20,
    )


def in_use(size: int, *, objects: int = 1) -> Allocated:
    return Allocated(2 * objects, 2 * size, objects, size)


@dataclass
class MemoryProcesses:
    """The `ObservedProcesses`."""

    found: list[ObservedProcess] = field(default_factory=list)

    def now(self) -> Sequence[ObservedProcess]:
        return self.found


@dataclass
class MemorySites:
    """The `HeapSites`: stacks of one address each, named by it."""

    heaps: dict[int, dict[tuple[int, ...], Allocated] | Exception] = field(default_factory=dict)
    counts: RuntimeCounts | Missing = COUNTED
    read_pids: list[int] = field(default_factory=list)
    reading: Callable[[], None] = lambda: None

    async def read(self, process: ObservedProcess, choose: Choose) -> SomeSites:
        self.read_pids.append(process.id.pid)
        self.reading()
        found = self.heaps.get(process.id.pid, {})
        if isinstance(found, Exception):
            raise found
        chosen = choose(found)
        rest = Allocated()
        for stack, allocated in found.items():
            if stack not in chosen:
                rest = rest.plus(allocated)
        return SomeSites(
            program=SHOP,
            rate=524_288,
            collection=3,
            sites=tuple(
                (one, (SymbolFrame(f"f{one[0]}", "x.go", 1),), found[one]) for one in chosen
            ),
            rest=rest,
            rest_sites=len(found) - len(chosen),
            counts=self.counts,
        )


@dataclass
class MemoryCpuSampling:
    """The `CpuSampling` of one window."""

    sampler: "MemoryCpuSampler"
    ended: bool = False

    async def until_wanted(self) -> None:
        await self.sampler.wanted.wait()

    async def end(self, processes: Sequence[ObservedProcess]) -> NodeSamples:
        assert not self.ended
        self.ended = True
        self.sampler.ending()
        found: dict[ProcessId, ProcessSamples | Missing] = {}
        for one in processes:
            stacks = self.sampler.stacks.get(one.id.pid, ())
            if isinstance(stacks, Missing):
                found[one.id] = stacks
            elif stacks is not None:
                found[one.id] = ProcessSamples(SHOP, tuple(stacks))
        return NodeSamples(recorded=90, lost=10, processes=found)

    async def discard(self) -> None:
        self.ended = True


@dataclass
class MemoryCpuSampler:
    """The `CpuSampler`: stacks by pid; None: it has ended meanwhile."""

    stacks: dict[int, Sequence[SampledStack] | Missing | None] = field(default_factory=dict)
    refusal: Exception | None = None
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[tuple[list[int], int]] = field(default_factory=list)
    samplings: list[MemoryCpuSampling] = field(default_factory=list)
    ending: Callable[[], None] = lambda: None

    @property
    def is_wanted(self) -> bool:
        return self.wanted.is_set()

    async def begin(
        self, processes: Sequence[ObservedProcess], *, hz: int
    ) -> MemoryCpuSampling | None:
        if self.refusal is not None:
            raise self.refusal
        self.begun.append(([one.id.pid for one in processes], hz))
        self.samplings.append(MemoryCpuSampling(self))
        return self.samplings[-1]


def not_read(reason: str) -> NotReadError:
    return NotReadError(reason, Missing("heap", f"it is {reason}", "ask again"))


class FixedCounters:
    """The `KernelCounters`."""

    def read(self, process: ObservedProcess) -> tuple[WindowCounters, tuple[Missing, ...]]:
        return WindowCounters(threads=process.threads), (Missing("open_files", "hidden", "root"),)


@dataclass
class ListedPods:
    """The `ChosenPods`: those of the list, and what is in no pod."""

    uids: set[str] = field(default_factory=set)

    def allow(self, process: ObservedProcess) -> bool:
        return process.pod_uid is None or process.pod_uid in self.uids


@dataclass
class CountedCosts:
    """The `Costs`, as a test sets them."""

    spent_s: float = 0.0
    held_bytes: int = 0

    def cpu_s(self) -> float:
        return self.spent_s

    def memory_bytes(self) -> int:
        return self.held_bytes


@dataclass
class ListSink:
    """The `WindowSink`."""

    records: list[WindowReading | WindowSymbols | WindowPause] = field(default_factory=list)
    dropped: int = 0

    def put(self, record: WindowReading | WindowSymbols | WindowPause) -> None:
        self.records.append(record)

    @property
    def readings(self) -> list[WindowReading]:
        return [one for one in self.records if isinstance(one, WindowReading)]

    @property
    def pauses(self) -> list[WindowPause]:
        return [one for one in self.records if isinstance(one, WindowPause)]


def older(process: ObservedProcess, seconds: float) -> ObservedProcess:
    return replace(process, age_s=process.age_s + seconds)
