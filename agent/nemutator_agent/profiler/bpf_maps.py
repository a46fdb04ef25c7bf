"""Rows with stacks, from the maps of bpf/nemutator_bpf/maps.h.

The layouts stand in both files. The bytes come from the kernel, in the machine's own order.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nemutator_agent.profiler.raw import RawRow, SeenProgram, StackOwner
from nemutator_agent.profiler.row_sums import RowSums

DEEPEST = 127
"""The most frames of a stack that are kept."""

ROW = struct.Struct("=IIQQQQQQ")
COUNT = struct.Struct("=Q")
HASH = struct.Struct("=Q")
STACK = struct.Struct(f"=II{DEEPEST}Q")
TGID = struct.Struct("=I")
TEXT = struct.Struct("=QQ")
TURN = struct.Struct("=I")
TASK = struct.Struct("=IIQ")
PROGRAM = struct.Struct("=QQQ")
WISH = struct.Struct("=QQIIII")

_OWNER_BITS = 8
"""Of a number that has the thread above them."""
_ROW_STACKS = struct.Struct("=QQ")
_ROW_STACKS_AT = 8
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

    @property
    def of_target(self) -> int:
        return self.ticks - self.others


COUNTERS = struct.Struct(f"={len(Counters._fields)}Q")

OWNERS: tuple[StackOwner, ...] = ("unknown", "goroutine", "thread", "borrowed", "unreadable")
"""In the order of the C enumeration."""

LOST = ("no_stack", "stacks_full", "rows_full", "map_busy")
SESSION_FULL = "session_full"
"""Recorded by the program, of a row that was too many for the session."""
UNREAD = "unread"
"""Recorded by the program, but not found in its maps."""


@dataclass(frozen=True, slots=True)
class Samples:
    rows: tuple[RawRow, ...]
    recorded: int
    lost: Mapping[str, int]
    truncated: int
    """Recorded samples of stacks so deep that their roots are cut off."""
    untimed: int = 0
    """How many waits there were whose length is not known: as samples they would be of nanoseconds."""


def sum_counters(per_cpu: bytes) -> Counters:
    """The sum over all CPUs, whose structures follow each other in *per_cpu*."""
    return Counters(*map(sum, zip(*COUNTERS.iter_unpack(per_cpu), strict=True)))


def sum_counts(per_cpu: bytes) -> int:
    """The same of a single number."""
    return sum(count for (count,) in COUNT.iter_unpack(per_cpu))


def parse_stack(value: bytes) -> tuple[int, ...]:
    """The stack, leaf first. The words beyond its depth belong to an earlier stack."""
    (depth,) = _DEPTH.unpack_from(value)
    return struct.unpack_from(f"={min(depth, DEEPEST)}Q", value, _FRAMES_AT)


def turn_of(row: bytes) -> int:
    """A row has the turn of its stacks, and one at least."""
    user, kernel = _ROW_STACKS.unpack_from(row, _ROW_STACKS_AT)
    return int(user or kernel) & 1


def seen_program(key: bytes, value: bytes) -> SeenProgram:
    tgid, _, image = TASK.unpack(key)
    return SeenProgram((tgid, image), *PROGRAM.unpack(value))


def with_stacks(
    rows: Iterable[tuple[bytes, bytes]],
    stacks: Mapping[int, tuple[int, ...]],
    *,
    deepest: int = DEEPEST,
) -> Iterator[tuple[RawRow, int]]:
    """Rows with their stacks and counts. A row without its stack is left out."""
    for key, value in rows:
        tgid, owner, user, kernel, first, second, image, goroutine = ROW.unpack(key)
        (count,) = COUNT.unpack(value)
        if any(stored and stored not in stacks for stored in (user, kernel, goroutine)):
            continue
        stack = stacks.get(user, ())
        row = RawRow(
            tgid,
            stack,
            stacks.get(kernel, ()),
            (first, second),
            count=0,
            image=image,
            cut=len(stack) >= deepest,
            owner=OWNERS[owner & (1 << _OWNER_BITS) - 1],
            waiting=stacks.get(goroutine, ()),
            thread=owner >> _OWNER_BITS,
        )
        yield row, count


def accounted(sums: RowSums, counters: Counters) -> Samples:
    """All samples of a session that has ended. What the program has recorded and is in no row is lost."""
    recorded = sums.recorded
    lost = {reason: getattr(counters, reason) for reason in LOST}
    lost[SESSION_FULL] = sums.lost
    lost[UNREAD] = max(0, counters.recorded - recorded - sums.lost)
    return Samples(
        rows=sums.rows(),
        recorded=recorded,
        lost={reason: count for reason, count in lost.items() if count},
        truncated=counters.truncated,
    )
