"""Which sites of a heap are told one by one: those with most in use, and those that have grown most."""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import MOST_SITES, HeapWindow, SiteAmounts, SymbolFrame, site_id
from nemutator_common.wire import Missing

from nemutator_agent.windows.observed import KnownProgram, RuntimeCounts

REMEMBERED = 512
"""Sites of a process whose bytes in use are kept until the next reading."""

Addresses = tuple[int, ...]
"""A stack without names: it is the same in each reading of one process."""

Choose = Callable[[Mapping[Addresses, Allocated]], Collection[Addresses]]
"""Which of all stacks are to have names."""

Stacks = Mapping[str, tuple[SymbolFrame, ...]]
"""By the id of the site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SomeSites:
    """The heap profile of one process: those sites that were chosen, and the sum of the others."""

    program: KnownProgram
    rate: int
    collection: int | None
    sites: tuple[tuple[Addresses, tuple[SymbolFrame, ...], Allocated], ...]
    rest: Allocated
    rest_sites: int
    counts: RuntimeCounts | Missing


@dataclass(frozen=True, slots=True)
class EarlierHeap:
    """What a process had in use in the reading before."""

    in_use: Mapping[Addresses, int] = field(default_factory=dict)
    least: int = 0
    """What each site that is not in it may have had."""

    def growth(self, stack: Addresses, in_use: int) -> int:
        """At least: what was not kept may have been there."""
        return in_use - self.in_use.get(stack, self.least)


def chosen(
    stacks: Mapping[Addresses, Allocated], earlier: EarlierHeap, *, most: int = MOST_SITES
) -> Collection[Addresses]:
    """Half of *most* by bytes in use, and as many of the others by growth."""
    half = most // 2
    largest = heapq.nlargest(half, stacks, key=lambda one: (stacks[one].bytes_in_use, one))
    taken = dict.fromkeys(one for one in largest if stacks[one].bytes_in_use)
    others = (one for one in stacks if one not in taken)
    growing = (one for one in others if earlier.growth(one, stacks[one].bytes_in_use) > 0)
    by_growth = heapq.nlargest(
        half, growing, key=lambda one: (earlier.growth(one, stacks[one].bytes_in_use), one)
    )
    return [*taken, *by_growth]


def remembered(stacks: Mapping[Addresses, Allocated], *, most: int = REMEMBERED) -> EarlierHeap:
    kept = heapq.nlargest(most, stacks, key=lambda one: (stacks[one].bytes_in_use, one))
    in_use = {one: stacks[one].bytes_in_use for one in kept}
    return EarlierHeap(in_use, min(in_use.values()) if len(stacks) > most else 0)


def heap_window(found: SomeSites) -> tuple[HeapWindow, Stacks]:
    """As it travels. Stacks of addresses with equal names are one site."""
    amounts: dict[str, Allocated] = {}
    stacks: dict[str, tuple[SymbolFrame, ...]] = {}
    for _, frames, allocated in found.sites:
        identity = site_id(frames)
        amounts[identity] = amounts.get(identity, Allocated()).plus(allocated)
        stacks[identity] = frames
    window = HeapWindow(
        collection=found.collection,
        rate=found.rate,
        sites=tuple(_by_use(amounts.items())),
        rest=_amounts("", found.rest),
        rest_sites=found.rest_sites,
    )
    return window, stacks


def _by_use(sites: Iterable[tuple[str, Allocated]]) -> Iterable[SiteAmounts]:
    in_order = sorted(sites, key=lambda one: (-one[1].bytes_in_use, one[0]))
    return (_amounts(identity, allocated) for identity, allocated in in_order)


def _amounts(site: str, allocated: Allocated) -> SiteAmounts:
    return SiteAmounts(
        site=site,
        in_use_bytes=allocated.bytes_in_use,
        in_use_objects=allocated.objects_in_use,
        allocated_bytes=allocated.bytes,
        allocated_objects=allocated.objects,
    )
