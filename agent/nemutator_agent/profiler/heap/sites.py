"""Makes a heap profile of sites with addresses: frames, and amounts as if all had been recorded.

Stacks are as `go tool pprof` shows them of the program's own profile: a call that was inlined is one
frame, though the runtime keeps an address for each; what the runtime does to allocate is left out, and
so is what it begins each goroutine with.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, FrameTable, Stack

from nemutator_agent.profiler.heap.estimates import LARGEST, estimated
from nemutator_agent.profiler.heap.messages import CountAnswer, CountedSite

AddressStack = tuple[int, ...]
"""Return addresses, the innermost first."""

UNKNOWN = Frame("[unknown]")
_RUNTIME = ("runtime.", "internal/runtime/")
_ROOT = "runtime.goexit"

Calls = Mapping[int, tuple[Frame, ...]]
"""The frames of an address as `looked_up` gives it, the innermost first."""


def looked_up(stack: Iterable[int]) -> Iterable[int]:
    """The addresses to look up: all of a site's are return addresses."""
    return (pc - 1 for pc in stack if pc)


def frames_of(stack: Iterable[int], calls: Calls) -> tuple[Frame, ...]:
    """The frames of a stack of return addresses, the innermost first."""
    wanted = list(looked_up(stack))
    shown = _without_runtime(wanted, calls)
    found: list[Frame] = []
    rest: tuple[Frame, ...] = ()
    for pc in shown:
        call = calls.get(pc, (UNKNOWN,))
        if rest and _same(call, rest):
            # The runtime's own expansion of the call before, whose frames are all there.
            rest = rest[1:]
            continue
        found += call
        rest = call[1:]
    while found and found[-1].function == _ROOT:
        found.pop()
    return tuple(found)


def _without_runtime(wanted: list[int], calls: Calls) -> list[int]:
    for number, pc in enumerate(wanted):
        call = calls.get(pc, (UNKNOWN,))
        if not call or not call[0].function.startswith(_RUNTIME):
            return wanted[number:]
    return wanted


def _same(one: tuple[Frame, ...], two: tuple[Frame, ...]) -> bool:
    return len(one) == len(two) and all(
        (a.function, a.file, a.line) == (b.function, b.file, b.line)
        for a, b in zip(one, two, strict=True)
    )


@dataclass(frozen=True, slots=True)
class HeapReading:
    """The heap of processes at one moment."""

    pprof: bytes
    sites: int
    """Stacks that have allocated."""
    notes: tuple[str, ...]
    started_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialHeap:
    """The heap of one process at one moment: some of its sites with names, and the sum of the others."""

    program: str
    """The name of its file."""
    version: str
    """Of Go."""
    image: str
    """Which build it is, in hexadecimal digits."""
    rate: int
    collections: int
    """As of which garbage collection; -1 where that is not known."""
    named: tuple[tuple[AddressStack, tuple[Frame, ...], Allocated], ...]
    rest: Allocated
    rest_sites: int
    counts: CountAnswer


def by_stack(sites: Iterable[CountedSite], *, rate: int) -> dict[AddressStack, Allocated]:
    """What each stack has allocated, with objects of all sizes together."""
    found: dict[AddressStack, Allocated] = {}
    for site in sites:
        found[site.stack] = found.get(site.stack, Allocated()).plus(_amount(site, rate))
    return found


@dataclass(slots=True)
class HeapTable:
    """Gathers the sites of one process, or of several."""

    _frames: FrameTable = field(default_factory=FrameTable)
    _sites: dict[Stack, Allocated] = field(default_factory=dict)
    _total: Allocated = field(default_factory=Allocated)

    def add(self, sites: Sequence[CountedSite], calls: Calls, *, rate: int) -> bool:
        """False, and nothing is added, where the sums would not fit into a profile: those of forged counts
        may not."""
        amounts = [_amount(site, rate) for site in sites]
        total = functools.reduce(Allocated.plus, amounts, self._total)
        if max(total) >= LARGEST:
            return False
        self._total = total
        numbers: dict[tuple[int, ...], Stack] = {}
        for site, amount in zip(sites, amounts, strict=True):
            stack = numbers.get(site.stack)
            if stack is None:
                frames = frames_of(site.stack, calls)
                stack = numbers[site.stack] = tuple(map(self._frames.number, frames))
            self._sites[stack] = self._sites.get(stack, Allocated()).plus(amount)
        return True

    def profile(self, *, started_at: float, rate: int, notes: tuple[str, ...]) -> HeapProfile:
        return HeapProfile(
            started_at=started_at,
            rate=rate,
            frames=self._frames.frames,
            sites=tuple(self._sites.items()),
            notes=notes,
        )

    def __len__(self) -> int:
        return len(self._sites)


def _amount(site: CountedSite, rate: int) -> Allocated:
    in_use = site.allocated - site.freed, site.bytes_allocated - site.bytes_freed
    return Allocated(
        *estimated(site.allocated, site.bytes_allocated, rate), *estimated(*in_use, rate)
    )
