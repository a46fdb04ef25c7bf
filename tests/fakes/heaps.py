"""Memory of Go processes as a reader of their heap profiles sees it, true or forged."""

import itertools
import struct
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_agent.inspection.bounded_file import ReadAt
from nemutator_agent.inspection.failures import ProcessGoneError, WorkerFailedError
from nemutator_agent.profiler.heap import answers
from nemutator_agent.profiler.heap.layouts import Layout
from nemutator_agent.profiler.heap.messages import (
    CountPlaces,
    CountQuestion,
    MemoryQuestion,
    ProgramAnswer,
    ProgramQuestion,
    decode_question,
    encode,
)
from nemutator_agent.profiler.heap.reading import HeldMemory
from nemutator_agent.profiler.heap.sites import HeapReading
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.wanted import TaskAddresses
from nemutator_common.profiles.model import Frame

T = TypeVar("T")

OLD, NEW = Layout(cycle_words=4, flag_bits=1), Layout(cycle_words=2, flag_bits=1)
TEXT = range(0x400000, 0x500000)
VARIABLES = 0x600000
"""Of the first site, the rate, and the cycle: in this order, each in eight bytes."""
SITES = 0x7F0000000000
EMPTY = (0, 0)


@dataclass(frozen=True)
class Bucket:
    """A site as the runtime keeps it; counts are objects allocated and freed, by cycle."""

    size: int = 64
    stack: tuple[int, ...] = (0x400011, 0x400021)
    active: tuple[int, int] = (3, 1)
    future: tuple[tuple[int, int], ...] = (EMPTY, EMPTY, EMPTY)

    def packed(self, following: int, layout: Layout) -> bytes:
        words = [0, following, 1, 0xBEEF, self.size, len(self.stack), *self.stack]
        for allocated, freed in (self.active, *self.future):
            words += [allocated, freed]
            if layout.cycle_words == 4:
                words += [allocated * self.size, freed * self.size]
        return struct.pack(f"<{len(words)}Q", *words)


def heap(
    buckets: Iterable[Bucket], *, layout: Layout = OLD, rate: int = 1, cycle: int = 10 << 1 | 1
) -> dict[int, bytes]:
    """The pieces of a memory by their addresses: the variables, and the sites."""
    sites, addresses = bytearray(), []
    chain = list(buckets)
    for one in chain:
        addresses.append(SITES + len(sites))
        sites += one.packed(0, layout)
    for address, following in itertools.pairwise(addresses):
        struct.pack_into("<Q", sites, address - SITES + 8, following)
    first = addresses[0] if addresses else 0
    return {VARIABLES: struct.pack("<QQQ", first, rate, cycle), SITES: bytes(sites)}


def reader(pieces: dict[int, bytes]) -> ReadAt:
    """As /proc/PID/mem: what is not mapped cannot be read, and a read ends where a piece does."""

    def read_at(address: int, size: int) -> bytes:
        for start, content in pieces.items():
            if start <= address < start + len(content):
                return content[address - start : address - start + size]
        return b""

    return read_at


def question(layout: Layout = OLD) -> MemoryQuestion:
    return MemoryQuestion(
        text=(TEXT.start, TEXT.stop),
        cycle_words=layout.cycle_words,
        flag_bits=layout.flag_bits,
        buckets=(VARIABLES,),
        rates=(VARIABLES + 8,),
        cycles=(VARIABLES + 16,),
    )


PROGRAM = ProgramAnswer(
    version="go1.26.8",
    text=(TEXT.start, TEXT.stop),
    shift=0x400000,
    buckets=(VARIABLES,),
    rates=(VARIABLES + 8,),
    cycles=(VARIABLES + 16,),
    is_linked=True,
)


COUNTS = 0x640000
PROCESSORS = 0x7F1000000000
FREE_OF_PROCESSOR = 0x9A8
PLACES = CountPlaces(
    goroutines=COUNTS,
    free=(COUNTS + 24, COUNTS + 28),
    system=COUNTS + 32,
    processors=COUNTS + 40,
    free_of_processor=FREE_OF_PROCESSOR,
    collections=COUNTS + 8192,
)


def counted(
    *,
    ever: int = 40,
    free: tuple[int, int] = (3, 2),
    system: int = 5,
    kept: Sequence[int] = (7, 1),
    collections: int = 34,
    pauses_ns: int = 5_000_000,
) -> dict[int, bytes]:
    """The pieces of a memory in which Go's runtime has counted so much: see PLACES."""
    processors = bytearray()
    for number, count in enumerate(kept):
        one = bytearray(4096)
        struct.pack_into("<I", one, 0, number)
        struct.pack_into("<I", one, FREE_OF_PROCESSOR, count)
        processors += one
    addresses = [PROCESSORS + 4096 * number for number in range(len(kept))]
    variables = bytearray(8200)
    struct.pack_into("<QQQ", variables, 0, 0, ever, ever)
    struct.pack_into("<IIIIQQ", variables, 24, *free, system, 0, PROCESSORS - 65536, len(kept))
    struct.pack_into("<I", variables, 8192, collections)
    struct.pack_into("<Q", variables, 8192 - 4104, pauses_ns)
    listed = struct.pack(f"<{len(addresses)}Q", *addresses)
    return {COUNTS: bytes(variables), PROCESSORS - 65536: listed, PROCESSORS: bytes(processors)}


@dataclass
class MemoryMemories:
    """`ProcessMemories`: processes by number, each with its pieces, or why there are none."""

    processes: dict[int, dict[int, bytes] | Exception] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    """Those that have ended since."""
    opened: int = 0

    async def open(self, pid: int) -> HeldMemory:
        found = self.processes.get(pid, ProcessGoneError())
        if isinstance(found, Exception):
            raise found
        if pid in self.ended:
            raise ProcessGoneError
        self.opened += 1
        return HeldMemory(pid, file=-pid, process=0, image=0)

    def is_there(self, memory: HeldMemory) -> bool:
        return memory.pid not in self.ended

    def close(self, memory: HeldMemory) -> None:
        self.opened -= 1


@dataclass
class LocalHeapWorker:
    """Answers as the worker does, here: of the memories of processes, and of programs by their file."""

    memories: MemoryMemories
    programs: dict[int, ProgramAnswer] = field(default_factory=dict)
    failing: WorkerFailedError | None = None
    stops: int = 0
    answering: Callable[[], Awaitable[None]] | None = None
    """Awaited before each answer."""

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        asked = decode_question(question)
        if self.answering is not None:
            await self.answering()
        if self.failing is not None:
            raise self.failing
        if isinstance(asked, ProgramQuestion):
            return decode(encode(self.programs.get(file, PROGRAM)))
        pieces = self.memories.processes[-file]
        assert isinstance(pieces, dict)
        if isinstance(asked, CountQuestion):
            return decode(encode(answers.about_counts(reader(pieces), asked)))
        return decode(encode(answers.about_memory(reader(pieces), asked)))

    def stop(self) -> None:
        self.stops += 1


class HexNames:
    """Names that are the addresses."""

    async def named(
        self, wanted: TaskAddresses
    ) -> tuple[dict[int, tuple[Frame, ...]], tuple[str, ...]]:
        return {pc: (Frame(f"{pc:#x}", "x.go", 1, kind="go"),) for pc in wanted.seen}, ()


@dataclass
class MemoryHeaps:
    """`HeapProfiles`."""

    found: HeapReading | ProfileRefused
    asked: list[tuple[int, ...]] = field(default_factory=list)

    async def read(self, processes: Iterable[int]) -> HeapReading:
        self.asked.append(tuple(processes))
        if isinstance(self.found, ProfileRefused):
            raise self.found
        return self.found
