"""The sites of a heap profile, from the memory of a Go process: a chain that may be forged.

A site is one stack with one size of objects, which the runtime calls a bucket: six words of head,
its return addresses, the counts that are published, and those of three cycles that are yet to be.
Counts are published when a garbage collection ends, so a reading in which one ended is taken anew.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_agent.profiler.heap.layouts import Layout
from nemutator_agent.profiler.heap.memory import Memory, UnmappedError

MOST_SITES = 50_000
"""The most of one process. Prometheus has some ten thousand."""
MOST_WORDS = 1 << 20
"""Of all sites together, as `Sites` holds them: 8 MiB."""
DEEPEST = 1026
"""GODEBUG=profstackdepth may be 1024; two more are kept for what is skipped."""

LARGEST_SIZE = 1 << 48
LARGEST_COUNT = 1 << 60
"""Of objects or bytes: more than a process allocates in a year."""
SITE_WORDS = 5
"""Objects allocated and freed, bytes allocated and freed, how many addresses follow."""

_HEAD_WORDS = 6
_WORD = 8
_MEMORY = 1
"""memProfile: the other kinds are of blocking and of mutexes."""
_ADDRESS_LIMIT = 1 << 48


class ForgedError(ValueError):
    """The chain is none that Go's runtime makes; the message says what was expected."""


class TornError(Exception):
    """A site changed while it was read."""


@dataclass(frozen=True, slots=True)
class Sites:
    words: "array[int]"
    """SITE_WORDS for each site, and its return addresses, the innermost first."""
    left_out: bool
    """There are more than are kept: the oldest are missing."""
    unpublished: bool
    """No garbage collection has published anything yet: these are all that were counted."""


@dataclass(frozen=True, slots=True)
class _Site:
    next: int
    size: int
    stack: tuple[int, ...]
    counts: tuple[int, ...]


def first_site(memory: Memory, candidates: Sequence[int], text: range) -> int | None:
    """The address of the first site by the variable among *candidates* that has one whose stack is in
    the program's *text*; 0 where none was recorded yet, None when no candidate convinces."""
    empty = False
    for variable in candidates:
        try:
            first = memory.word(variable)
            if not first:
                empty = True
                continue
            head = memory.words(_checked(first), _HEAD_WORDS)
            _, _, kind, _, _, depth = head
            if kind != _MEMORY or not 0 < depth <= DEEPEST:
                continue
            stack = memory.words(first + _HEAD_WORDS * _WORD, depth)
        except (UnmappedError, ForgedError):
            continue
        if any(pc - 1 in text for pc in stack):
            return first
    return 0 if empty else None


def read(memory: Memory, first: int, layout: Layout) -> Sites:
    """All sites from *first* on. Raises ForgedError, TornError, UnmappedError."""
    words, left_out = _walk(memory, first, layout, unpublished=False)
    if words or not first:
        return Sites(words, left_out, unpublished=False)
    words, left_out = _walk(memory, first, layout, unpublished=True)
    return Sites(words, left_out, unpublished=True)


def _walk(
    memory: Memory, first: int, layout: Layout, *, unpublished: bool
) -> tuple["array[int]", bool]:
    """The sites with anything allocated, and whether there are more of them."""
    words = array("Q")
    seen: set[int] = set()
    address = first
    while address:
        if address in seen:
            raise ForgedError("expected a chain that ends, and it leads back into itself")
        if len(seen) >= MOST_SITES or len(words) > MOST_WORDS - DEEPEST - SITE_WORDS:
            return words, True
        seen.add(address)
        site = _site(memory, address, layout)
        one = layout.cycle_words
        cycles = [site.counts[at : at + one] for at in range(0, layout.words, one)]
        chosen = cycles if unpublished else cycles[:1]
        _put(words, _summed([_bytes_too(cycle, site.size) for cycle in chosen]), site.stack)
        address = site.next
    return words, False


def _site(memory: Memory, address: int, layout: Layout) -> _Site:
    _, following, kind, _, size, depth = memory.words(_checked(address), _HEAD_WORDS)
    if kind != _MEMORY:
        raise ForgedError("expected a site of memory")
    if depth > DEEPEST:
        raise ForgedError(f"expected a stack of at most {DEEPEST} calls")
    if size >= LARGEST_SIZE:
        raise ForgedError("expected an object of a size that memory can have")
    rest = memory.words(address + _HEAD_WORDS * _WORD, depth + layout.words)
    if following:
        _checked(following)
    return _Site(following, size, rest[:depth], rest[depth:])


def _bytes_too(cycle: tuple[int, ...], size: int) -> tuple[int, int, int, int]:
    """Objects allocated and freed, and their bytes, which Go 1.27 does not keep any more."""
    allocated, freed = cycle[:2]
    if allocated >= LARGEST_COUNT or freed >= LARGEST_COUNT:
        raise ForgedError("expected fewer objects than can be allocated")
    bytes_allocated = allocated * size
    bytes_freed = freed * size
    if cycle[2:]:
        # All objects of a site have one size, so bytes that differ were read half changed.
        if cycle[2] != bytes_allocated:
            raise TornError
        bytes_freed = cycle[3]
    if bytes_allocated >= LARGEST_COUNT or bytes_freed >= LARGEST_COUNT:
        raise ForgedError("expected fewer bytes than can be allocated")
    return allocated, freed, bytes_allocated, bytes_freed


def _summed(cycles: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    one, two, three, four = (sum(column) for column in zip(*cycles, strict=True))
    return one, two, three, four


def _put(words: "array[int]", counts: tuple[int, int, int, int], stack: tuple[int, ...]) -> None:
    if counts[0] < counts[1] or counts[2] < counts[3]:
        raise TornError
    if counts[0]:
        words.extend((*counts, len(stack), *stack))


def _checked(address: int) -> int:
    if address % _WORD or not 0 < address < _ADDRESS_LIMIT:
        raise ForgedError("expected the address of a site")
    return address
