"""How many replicas beyond their base workloads have room for, and who gets which part of the spare CPU: pure.

Spare is what nodes can take, without a reserve, less what others request, and less what all are expected to use where
that is more. Higher priorities are served first; equal ones share until each has what it can use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from nemutator_controller.scaling.records import ScalerKey, SpareCpu


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareWish:
    """Of one workload that takes part."""

    key: ScalerKey
    base: int
    most: int
    """Replicas, whatever room there is."""
    request_millis: int
    requested_millis: int
    """By all the pods that it has now."""
    share_percent: int = 100
    priority: int = 0

    @property
    def usable_millis(self) -> int:
        return max(0, self.most - self.base) * self.request_millis


def spare_millis(spare: SpareCpu, wishes: Sequence[SpareWish], *, reserve_percent: float) -> int:
    """What the workloads of *wishes* may share beyond their bases."""
    # In whole numbers: what nodes say of themselves may be larger than floats are.
    usable = spare.allocatable * round((100 - reserve_percent) * 100) // 10_000
    own = sum(one.requested_millis for one in wishes)
    # Their own requests are no reason to have less, or each gain would take itself back.
    others = max(0, spare.requested - own)
    bases = sum(one.base * one.request_millis for one in wishes)
    taken = others + bases
    if spare.foreseen is not None:
        taken = max(taken, spare.foreseen)
    return max(0, usable - taken)


def opportunistic_replicas(spare: int, wishes: Sequence[SpareWish]) -> Mapping[ScalerKey, int]:
    """By key; together they request no more than *spare* beyond their bases."""
    found: dict[ScalerKey, int] = {}
    left = max(0, spare)
    by_priority = sorted(wishes, key=lambda one: (-one.priority, one.key))
    for _, group in groupby(by_priority, key=lambda one: one.priority):
        equal = list(group)
        for one, granted in zip(equal, _shared(left, spare, equal), strict=True):
            more = granted // one.request_millis if one.request_millis > 0 else 0
            left -= more * one.request_millis
            found[one.key] = max(one.base, min(one.most, one.base + more))
    return found


def _shared(left: int, spare: int, wishes: Sequence[SpareWish]) -> list[int]:
    """Of *left* to each: whoever can use the least first, and what that leaves to the others."""
    granted = [0] * len(wishes)
    caps = [
        min(one.usable_millis, max(0, spare) * one.share_percent // 100)
        if one.request_millis > 0
        else 0
        for one in wishes
    ]
    order = sorted(range(len(wishes)), key=lambda number: (caps[number], wishes[number].key))
    for done, number in enumerate(order):
        granted[number] = min(caps[number], left // (len(order) - done))
        left -= granted[number]
    return granted
