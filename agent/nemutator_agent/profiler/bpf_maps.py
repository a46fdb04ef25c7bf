"""Rows with stacks, from the maps of bpf/nemutator_bpf/sample.bpf.c.

The layouts stand in both files. The bytes come from the kernel, in the machine's own order.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from nemutator_agent.profiler.raw import RawRow, StackOwner

DEEPEST = 127
"""The most frames of a stack that are kept."""

ROW = struct.Struct("=IIQQQQQQ")
COUNT = struct.Struct("=Q")
HASH = struct.Struct("=Q")
STACK = struct.Struct(f"=II{DEEPEST}Q")
TGID = struct.Struct("=I")
TEXT = struct.Struct("=QQ")
WISH = struct.Struct("=QQIIII")

_DEPTH = struct.Struct("=I")
_FRAMES_AT = 8


class Counters(NamedTuple):
    """The fields of the C structure, in its order. The first is the sum of the others, without
    `truncated`."""

    ticks: int
    others: int
    recorded: int
    truncated: int
    no_stack: int
    stacks_full: int
    rows_full: int
    map_busy: int


COUNTERS = struct.Struct(f"={len(Counters._fields)}Q")

OWNERS: tuple[StackOwner, ...] = ("unknown", "goroutine", "thread", "borrowed", "unreadable")
"""In the order of the C enumeration."""

LOST = ("no_stack", "stacks_full", "rows_full", "map_busy")
UNREAD = "unread"
"""Recorded by the program, but not found in its maps."""


@dataclass(frozen=True, slots=True)
class Samples:
    rows: tuple[RawRow, ...]
    recorded: int
    lost: Mapping[str, int]
    truncated: int
    """Recorded samples of stacks so deep that their roots are cut off."""


def sum_counters(per_cpu: bytes) -> Counters:
    """The sum over all CPUs, whose structures follow each other in *per_cpu*."""
    return Counters(*map(sum, zip(*COUNTERS.iter_unpack(per_cpu), strict=True)))


def parse_stack(value: bytes) -> tuple[int, ...]:
    """The stack, leaf first. The words beyond its depth belong to an earlier stack."""
    (depth,) = _DEPTH.unpack_from(value)
    return struct.unpack_from(f"={min(depth, DEEPEST)}Q", value, _FRAMES_AT)


def together(
    rows: Iterable[tuple[bytes, bytes]],
    stacks: Mapping[int, tuple[int, ...]],
    counters: Counters,
    *,
    deepest: int = DEEPEST,
) -> Samples:
    """Rows with their stacks. A sample without its stack, or counted without a row, is lost."""
    found: Counter[RawRow] = Counter()
    for key, value in rows:
        tgid, owner, user, kernel, first, second, image, goroutine = ROW.unpack(key)
        (count,) = COUNT.unpack(value)
        if any(stored and stored not in stacks for stored in (user, kernel, goroutine)):
            continue
        stack = stacks.get(user, ())
        one = RawRow(
            tgid,
            stack,
            stacks.get(kernel, ()),
            (first, second),
            count=0,
            image=image,
            cut=len(stack) >= deepest,
            owner=OWNERS[owner],
            waiting=stacks.get(goroutine, ()),
        )
        found[one] += count
    recorded = found.total()
    lost = {reason: getattr(counters, reason) for reason in LOST}
    lost[UNREAD] = max(0, counters.recorded - recorded)
    return Samples(
        rows=tuple(replace(one, count=count) for one, count in found.items()),
        recorded=recorded,
        lost={reason: count for reason, count in lost.items() if count},
        truncated=counters.truncated,
    )
