"""Reads the heap profiles of Go processes: where each program keeps its own, what is there, and names.

The program and the memory are a stranger's, so a worker parses them, with open files and no rights. A
process that ends, or runs another program, is noticed at the end: what was read until then is not used.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Frame

from nemutator_agent.inspection.executables import Worker
from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.profiler.heap import flaws
from nemutator_agent.profiler.heap.layouts import UnknownLayoutError, layout_of
from nemutator_agent.profiler.heap.messages import (
    MemoryAnswer,
    MemoryQuestion,
    ProgramAnswer,
    ProgramQuestion,
    Question,
    decode_memory,
    decode_program,
    encode,
    sites_of,
)
from nemutator_agent.profiler.heap.sites import HeapReading, HeapTable, looked_up
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.symbolising import MappedFiles
from nemutator_agent.profiler.symbols.wanted import TaskAddresses

T = TypeVar("T")

MOST_PROCESSES = 16
"""The most processes of one reading that are Go; a pod has one or two."""
MOST_TRIED = 256
"""The most processes that are looked at for that."""
LONGEST_S = 180.0
"""No process is begun any later. The brain waits for longer."""
MOST_SITES = 100_000


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
    answer: MemoryAnswer


@dataclass(eq=False, slots=True)
class HeapReader:
    """A `HeapProfiles`. One reading at a time."""

    files: MappedFiles
    memories: ProcessMemories
    worker: Worker
    names: AddressNaming
    process: Process

    async def read(self, processes: Sequence[int]) -> HeapReading:
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
        title = f"process {pid}"
        try:
            memory = await self.memories.open(pid)
            try:
                read = await self._read(memory)
                title = read.title
                sites = list(sites_of(read.answer))
                seen = Counter(pc for site in sites for pc in looked_up(site.stack))
                wanted = TaskAddresses((pid, memory.image), dict(seen), set())
                calls, notes = await self.names.named(wanted)
                if not self.memories.is_there(memory):
                    raise ProcessGoneError
            finally:
                self.memories.close(memory)
        except (
            ProcessGoneError,
            HiddenFileError,
            FileSystemStuckError,
            WorkerFailedError,
        ) as error:
            raise flaws.of_failure(error, title) from error
        if not table.add(sites, calls, rate=read.answer.rate):
            forged = MemoryAnswer(flaw="forged", what="expected sums that memory can have")
            refusal = flaws.of_memory(forged, title, is_linked=True)
            assert refusal is not None
            raise refusal
        return read.answer.rate, [*_remarks(read), *notes]

    async def _read(self, memory: HeldMemory) -> _Read:
        mappings = await self.files.mappings(memory.pid)
        # A program is mapped below its libraries.
        code = next((one for one in mappings if one.inode), None)
        if code is None or not mappings.are_of(memory.image):
            raise ProcessGoneError
        title = f"{code.named} (pid {memory.pid})"
        program = await self._program(memory.pid, code)
        if refusal := flaws.of_program(program, title):
            raise refusal
        try:
            layout = layout_of(program.version)
        except UnknownLayoutError as error:
            raise flaws.of_version(title, str(error)) from error
        # What position-independent programs are shifted by, when they are loaded.
        bias = code.start - code.offset - program.shift
        question = MemoryQuestion(
            text=(program.text[0] + bias, program.text[1] + bias),
            cycle_words=layout.cycle_words,
            flag_bits=layout.flag_bits,
            buckets=_shifted(program.buckets, bias),
            rates=_shifted(program.rates, bias),
            cycles=_shifted(program.cycles, bias),
        )
        answer = await self._ask(question, memory.file, decode_memory)
        if not self.memories.is_there(memory):
            raise ProcessGoneError
        if refusal := flaws.of_memory(answer, title, is_linked=program.is_linked):
            raise refusal
        return _Read(title, answer)

    async def _program(self, pid: int, code: Mapping) -> ProgramAnswer:
        file = await self.files.open(pid, code)
        try:
            return await self._ask(ProgramQuestion(), file.file, decode_program)
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


def _shifted(addresses: Iterable[int], bias: int) -> tuple[int, ...]:
    return tuple(one + bias for one in addresses)


def _remarks(read: _Read) -> Iterable[str]:
    answer = read.answer
    known = answer.collections >= 0
    as_of = f"as of garbage collection {answer.collections}" if known else "as of the last but one"
    if answer.unpublished:
        as_of = "before its first garbage collection has published anything"
    yield f"{read.title}: {as_of}, one byte of {answer.rate} recorded"
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
