"""Reads the heap profiles of Go processes: where each program keeps its own, what is there, and names.

The program and the memory are a stranger's, so a worker parses them, with open files and no rights. A
process that ends, or runs another program, is noticed at the end: what was read until then is not used.
"""

import asyncio
import contextlib
import functools
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles import pprof
from nemutator_common.profiles.heap import Allocated
from nemutator_common.profiles.model import Frame

from nemutator_agent.inspection.executables import Worker
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.heap import flaws
from nemutator_agent.profiler.heap.layouts import UnknownLayoutError, layout_of
from nemutator_agent.profiler.heap.messages import (
    CountAnswer,
    CountQuestion,
    MemoryAnswer,
    MemoryQuestion,
    ProgramAnswer,
    ProgramQuestion,
    Question,
    decode_counts,
    decode_memory,
    decode_program,
    encode,
    sites_of,
)
from nemutator_agent.profiler.heap.sites import (
    AddressStack,
    HeapReading,
    HeapTable,
    PartialHeap,
    by_stack,
    frames_of,
    looked_up,
)
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.mappings import Mapping as CodeMapping
from nemutator_agent.profiler.symbols.ports import MappedFiles
from nemutator_agent.profiler.symbols.wanted import TaskAddresses

T = TypeVar("T")

MOST_PROCESSES = 16
"""The most processes of one reading that are Go; a pod has one or two."""
MOST_TRIED = 256
"""The most processes that are looked at for that."""
LONGEST_S = 180.0
"""No process is begun any later. The brain waits for longer."""
MOST_SITES = 100_000
MOST_PROGRAMS = 256
"""Of which it is remembered where they keep their heap profile."""
LARGEST_SUM = 1 << 53
"""Of one process, where its sums travel as JSON: larger numbers are not exact there."""

ChooseStacks = Callable[[Mapping[AddressStack, Allocated]], Collection[AddressStack]]


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """The memory of one process while it runs one program: neither its number, used again, nor another
    program leads elsewhere."""

    pid: int
    file: int
    process: int
    """A pidfd."""
    image: int
    """The program, as `Mappings` know it."""


class ProcessMemories(Protocol):
    async def open(self, pid: int) -> HeldMemory:
        """The caller closes it. Raises ProcessGoneError, HiddenFileError, FileSystemStuckError."""
        ...

    def is_there(self, memory: HeldMemory) -> bool:
        """Whether the process still runs the program that it ran when its memory was opened."""
        ...

    def close(self, memory: HeldMemory) -> None: ...


class AddressNaming(Protocol):
    async def named(
        self, wanted: TaskAddresses
    ) -> tuple[dict[int, tuple[Frame, ...]], tuple[str, ...]]:
        """The frames of addresses, and what people should know of them."""
        ...


@dataclass(frozen=True, slots=True)
class _Read:
    """What was found in one process."""

    title: str
    named: str
    program: ProgramAnswer
    answer: MemoryAnswer
    counts: CountAnswer


@dataclass(frozen=True, slots=True)
class GoProgram:
    """What a process runs."""

    name: str
    """Of its file."""
    version: str
    """Of Go."""
    image: str
    """Which build it is, in hexadecimal digits."""
    task_image: int
    """As samples of the process have it, which tells one exec from the next."""
    counts: CountAnswer | None
    """What its runtime has counted; None where that was not asked for."""


@dataclass(eq=False, slots=True)
class HeapReader:
    """A `HeapProfiles`. One reading at a time."""

    files: MappedFiles
    memories: ProcessMemories
    worker: Worker
    names: AddressNaming
    process: Process
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _programs: OrderedDict[FileId, ProgramAnswer] = field(default_factory=OrderedDict, init=False)

    async def read(self, processes: Sequence[int]) -> HeapReading:
        async with self._turn:
            return await self._read_all(processes)

    async def read_some(
        self, pid: int, choose: ChooseStacks, *, is_meant: Callable[[], bool]
    ) -> PartialHeap:
        """The heap of one process, with the names of those stacks that *choose* takes of all. Nothing of it
        is read unless *is_meant* once its number leads to no other process. Raises ProfileRefused."""
        async with self._turn:
            try:
                async with self._held(pid) as memory:
                    if not is_meant():
                        raise ProcessGoneError
                    read = await self._read(memory)
                    rate = read.answer.rate
                    stacks = by_stack(sites_of(read.answer), rate=rate)
                    total = functools.reduce(Allocated.plus, stacks.values(), Allocated())
                    if max(total) >= LARGEST_SUM:
                        raise _forged(read.title)
                    chosen = choose(stacks)
                    calls, _ = await self._named(
                        memory, Counter(pc for one in chosen for pc in looked_up(one))
                    )
            finally:
                self.worker.stop()
        named = tuple((one, frames_of(one, calls), stacks.pop(one)) for one in chosen)
        return PartialHeap(
            program=read.named,
            version=read.program.version,
            image=read.program.image,
            rate=rate,
            collections=-1 if read.answer.unpublished else read.answer.collections,
            named=named,
            rest=functools.reduce(Allocated.plus, stacks.values(), Allocated()),
            rest_sites=len(stacks),
            counts=read.counts,
        )

    async def program_of(
        self, pid: int, *, is_meant: Callable[[], bool], counted: bool = False
    ) -> GoProgram:
        """What a process runs, without its heap. Raises ProfileRefused."""
        async with self._turn:
            try:
                async with self._held(pid) as memory:
                    if not is_meant():
                        raise ProcessGoneError
                    code, program = await self._program_in(memory)
                    if refusal := flaws.of_program(program, f"{code.named} (pid {pid})"):
                        raise refusal
                    counts = await self._counts(memory, code, program) if counted else None
                    if not self.memories.is_there(memory):
                        raise ProcessGoneError
            finally:
                self.worker.stop()
        return GoProgram(code.named, program.version, program.image, memory.image, counts)

    async def _read_all(self, processes: Sequence[int]) -> HeapReading:
        started_at = self.process.clock.now()
        ends_at = self.process.clock.monotonic() + LONGEST_S
        table, rates, notes = HeapTable(), Counter[int](), list[str]()
        refusals: list[ProfileRefused] = []
        try:
            for number, pid in enumerate(processes):
                if self._is_enough(number, rates, table, ends_at):
                    notes.append(f"{len(processes) - number} processes were not looked at")
                    break
                try:
                    rate, more = await self._add(pid, table)
                except ProfileRefused as refusal:
                    refusals.append(refusal)
                else:
                    rates[rate] += 1
                    notes += more
        finally:
            self.worker.stop()
        if not rates:
            raise _all_of(refusals)
        notes += _left_out(refusals)
        rate = rates.most_common(1)[0][0]
        profile = table.profile(started_at=started_at, rate=rate, notes=tuple(notes))
        return HeapReading(pprof.encode_heap(profile), len(table), tuple(notes), started_at)

    def _is_enough(
        self, tried: int, read: "Counter[int]", table: HeapTable, ends_at: float
    ) -> bool:
        return (
            tried >= MOST_TRIED
            or read.total() >= MOST_PROCESSES
            or len(table) >= MOST_SITES
            or self.process.clock.monotonic() >= ends_at
        )

    async def _add(self, pid: int, table: HeapTable) -> tuple[int, list[str]]:
        """The rate, and notes. Raises ProfileRefused."""
        async with self._held(pid) as memory:
            read = await self._read(memory)
            sites = list(sites_of(read.answer))
            seen = Counter(pc for site in sites for pc in looked_up(site.stack))
            calls, notes = await self._named(memory, seen)
        if not table.add(sites, calls, rate=read.answer.rate):
            raise _forged(read.title)
        return read.answer.rate, [*_remarks(read), *notes]

    @contextlib.asynccontextmanager
    async def _held(self, pid: int) -> AsyncIterator[HeldMemory]:
        """Its memory. What fails is raised as ProfileRefused."""
        try:
            memory = await self.memories.open(pid)
            try:
                yield memory
            finally:
                self.memories.close(memory)
        except (
            ProcessGoneError,
            HiddenFileError,
            FileSystemStuckError,
            WorkerFailedError,
        ) as error:
            raise flaws.of_failure(error, f"process {pid}") from error

    async def _named(
        self, memory: HeldMemory, seen: "Counter[int]"
    ) -> tuple[dict[int, tuple[Frame, ...]], tuple[str, ...]]:
        named = await self.names.named(TaskAddresses((memory.pid, memory.image), dict(seen), set()))
        if not self.memories.is_there(memory):
            raise ProcessGoneError
        return named

    async def _program_in(self, memory: HeldMemory) -> tuple[CodeMapping, ProgramAnswer]:
        mappings = await self.files.mappings(memory.pid)
        # A program is mapped below its libraries.
        code = next((one for one in mappings if one.inode), None)
        if code is None or not mappings.are_of(memory.image):
            raise ProcessGoneError
        return code, await self._program(memory.pid, code)

    async def _read(self, memory: HeldMemory) -> _Read:
        code, program = await self._program_in(memory)
        title = f"{code.named} (pid {memory.pid})"
        if refusal := flaws.of_program(program, title):
            raise refusal
        try:
            layout = layout_of(program.version)
        except UnknownLayoutError as error:
            raise flaws.of_version(title, str(error)) from error
        bias = _bias(code, program)
        question = MemoryQuestion(
            text=(program.text[0] + bias, program.text[1] + bias),
            cycle_words=layout.cycle_words,
            flag_bits=layout.flag_bits,
            buckets=_shifted(program.buckets, bias),
            rates=_shifted(program.rates, bias),
            cycles=_shifted(program.cycles, bias),
        )
        answer = await self._ask(question, memory.file, decode_memory)
        counts = await self._counts(memory, code, program)
        if not self.memories.is_there(memory):
            raise ProcessGoneError
        if refusal := flaws.of_memory(answer, title, is_linked=program.is_linked):
            raise refusal
        return _Read(title, code.named, program, answer, counts)

    async def _counts(
        self, memory: HeldMemory, code: CodeMapping, program: ProgramAnswer
    ) -> CountAnswer:
        if program.counts is None:
            return CountAnswer(flaw="unknown")
        question = CountQuestion(program.counts.shifted(_bias(code, program)))
        return await self._ask(question, memory.file, decode_counts)

    async def _program(self, pid: int, code: CodeMapping) -> ProgramAnswer:
        file = await self.files.open(pid, code)
        try:
            known = self._programs.get(file.id)
            if known is None:
                known = await self._ask(ProgramQuestion(), file.file, decode_program)
                self._programs[file.id] = known
                if len(self._programs) > MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            return known
        finally:
            self.files.close(file)

    async def _ask(self, question: Question, file: int, decode: Callable[[bytes], T]) -> T:
        try:
            answer = await self.worker.ask(encode(question), file, decode)
        except WorkerFailedError as failure:
            self.process.meter.count(names.SYMBOL_QUESTIONS, result=failure.reason)
            raise
        self.process.meter.count(names.SYMBOL_QUESTIONS, result="answered")
        return answer


def _forged(title: str) -> ProfileRefused:
    forged = MemoryAnswer(flaw="forged", what="expected sums that memory can have")
    refusal = flaws.of_memory(forged, title, is_linked=True)
    assert refusal is not None
    return refusal


def _bias(code: CodeMapping, program: ProgramAnswer) -> int:
    """What position-independent programs are shifted by, when they are loaded."""
    return code.start - code.offset - program.shift


def _shifted(addresses: Iterable[int], bias: int) -> tuple[int, ...]:
    return tuple(one + bias for one in addresses)


def _remarks(read: _Read) -> Iterable[str]:
    answer = read.answer
    known = answer.collections >= 0
    as_of = f"as of garbage collection {answer.collections}" if known else "as of the last but one"
    if answer.unpublished:
        as_of = "before its first garbage collection has published anything"
    yield f"{read.title}: {as_of}, one byte of {answer.rate} recorded"
    counts = read.counts
    if not counts.flaw:
        yield (
            f"{read.title}: {counts.goroutines} goroutines, {counts.collections} garbage collections, "
            f"which have stopped it for {counts.pauses_ns / 1e6:.1f} ms"
        )
    if answer.moved:
        yield f"{read.title} collects garbage so often that sites may be one collection apart"
    if answer.left_out:
        yield f"{read.title} has more sites than are read: its oldest are left out"


def _all_of(refusals: Sequence[ProfileRefused]) -> ProfileRefused:
    if len(refusals) == 1:
        return refusals[0]
    reasons = Counter(refusal.what for refusal in refusals)
    shown = "; ".join(list(reasons)[:3])
    return ProfileRefused(
        "heap",
        f"none of {len(refusals)} processes has a heap profile that can be read: {shown}",
        remedy="profile one process, as pid:1234, or their CPU time",
    )


def _left_out(refusals: Sequence[ProfileRefused]) -> Iterable[str]:
    return (f"left out: {refusal.what}" for refusal in refusals)
