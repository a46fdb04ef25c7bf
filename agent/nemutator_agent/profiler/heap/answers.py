"""How the worker answers a question about a Go program, or about the memory of a process."""

import hashlib
from collections.abc import Sequence

from nemutator_agent.inspection.bounded_file import BoundedFile, ReadAt, TooMuchError
from nemutator_agent.inspection.elf import NotElfError
from nemutator_agent.inspection.go_buildinfo import go_version
from nemutator_agent.profiler.heap import buckets, count_places, counts, runtime_variables
from nemutator_agent.profiler.heap.buckets import ForgedError, Sites, TornError
from nemutator_agent.profiler.heap.layouts import Layout
from nemutator_agent.profiler.heap.memory import MOST_BYTES, Memory, UnmappedError
from nemutator_agent.profiler.heap.messages import (
    CountAnswer,
    CountQuestion,
    MemoryAnswer,
    MemoryFlaw,
    MemoryQuestion,
    ProgramAnswer,
)
from nemutator_agent.profiler.symbols.build_ids import build_id
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.image import DamagedError, Image
from nemutator_agent.profiler.symbols.pclntab import NoGoTableError, TooOldError

TRIES = 4
HIGHEST_RATE = 1 << 40
MOST_COUNT_BYTES = 128 << 20
"""Each of Go's processors is somewhere else, and read with what is around it."""
_VERSION_BYTES = 32 << 20
_VERSION_READS = 1024
_HEAD_BYTES = 4096
"""Go's linker writes its own build id there, too."""


def about_program(read_at: ReadAt) -> ProgramAnswer:
    """Never fails on what the file holds: it answers less."""
    try:
        image = Image(read_at)
        go = GoSymbols(image)
        variables = runtime_variables.find(go)
        file = BoundedFile(image.read, budget_bytes=_VERSION_BYTES, budget_reads=_VERSION_READS)
        return ProgramAnswer(
            version=go_version(image.elf, file) or "",
            image=build_id(image) or _digest(image.read(0, _HEAD_BYTES)),
            text=(go.first, go.end),
            shift=image.shift,
            buckets=variables.buckets,
            rates=variables.rates,
            cycles=variables.cycles,
            is_linked=variables.is_linked,
            counts=count_places.find(go),
        )
    except (NotElfError, NoGoTableError):
        return ProgramAnswer(flaw="not_go")
    except TooOldError as error:
        return ProgramAnswer(flaw="too_old", version=str(error))
    except DamagedError:
        return ProgramAnswer(flaw="damaged")
    except TooMuchError:
        return ProgramAnswer(flaw="too_much")


def about_memory(
    read_at: ReadAt, question: MemoryQuestion, *, most_bytes: int = MOST_BYTES
) -> MemoryAnswer:
    """The same for memory, which changes while it is read."""
    memory = Memory(read_at, most_bytes=most_bytes)
    try:
        return _read(memory, question)
    except UnmappedError:
        return _flawed("unreadable")
    except ForgedError as error:
        return _flawed("forged", str(error))
    except TooMuchError:
        return _flawed("too_much")


def about_counts(read_at: ReadAt, question: CountQuestion) -> CountAnswer:
    """The same."""
    try:
        return counts.read(Memory(read_at, most_bytes=MOST_COUNT_BYTES), question.places)
    except UnmappedError:
        return CountAnswer(flaw="unreadable")
    except ForgedError:
        return CountAnswer(flaw="forged")
    except TooMuchError:
        return CountAnswer(flaw="too_much")


def _read(memory: Memory, question: MemoryQuestion) -> MemoryAnswer:
    rate = _rate(memory, question.rates)
    if not rate:
        return _flawed("no_rate" if rate is None else "off")
    layout = Layout(question.cycle_words, question.flag_bits)
    for attempt in range(1, TRIES + 1):
        memory.forget()
        before = _cycle(memory, question)
        first = buckets.first_site(memory, question.buckets, range(*question.text))
        if first is None:
            return _flawed("not_found")
        try:
            sites = buckets.read(memory, first, layout)
        except TornError:
            continue
        memory.forget()
        moved = before != _cycle(memory, question)
        if not moved or attempt == TRIES:
            collections = _published(before, layout)
            return _answer(sites, rate=rate, collections=collections, moved=moved)
    return _flawed("torn")


def _answer(sites: Sites, *, rate: int, collections: int, moved: bool) -> MemoryAnswer:
    return MemoryAnswer(
        rate=rate,
        collections=collections,
        sites=sites.words.tobytes(),
        left_out=sites.left_out,
        unpublished=sites.unpublished,
        moved=moved,
    )


def _digest(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=20).hexdigest()


def _flawed(flaw: MemoryFlaw, what: str = "") -> MemoryAnswer:
    return MemoryAnswer(flaw=flaw, what=what)


def _rate(memory: Memory, candidates: Sequence[int]) -> int | None:
    """None when it cannot be found, or cannot be a rate."""
    if len(candidates) != 1:
        return None
    rate = memory.word(candidates[0])
    return rate if rate < HIGHEST_RATE else None


def _cycle(memory: Memory, question: MemoryQuestion) -> int | None:
    """The runtime's own number, with its flag."""
    return memory.half(question.cycles[0]) if len(question.cycles) == 1 else None


def _published(cycle: int | None, layout: Layout) -> int:
    """The garbage collection whose outcome is published: the last but one, because its sweeping has to
    end first; and one before that, as long as the flag is not set."""
    if cycle is None:
        return -1
    collections = cycle >> layout.flag_bits
    behind = 1 if not layout.flag_bits or cycle & 1 else 2
    return max(collections - behind, 0)
