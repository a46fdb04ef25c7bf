"""What sizing needs from others, in memory."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from nemutator_common.wire import Summary
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.sizing.keys import ContainerKey, Requested, replica_number
from nemutator_controller.sizing.known_usage import KnownUsage, UsageColumns
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.recommendation import NO_BOUND, BoundedColumns, recommend
from nemutator_controller.sizing.samples import UsageSamples
from nemutator_controller.sizing.usages import Learned, Usages

from tests.fakes.brain_stores import Failing


@dataclass
class GrowingContainers:
    """`GrowingMemory` of what a test says."""

    keys: Collection[ContainerKey] = ()

    def of(self, key: ContainerKey) -> str | None:
        return "this memory grows: see ageing" if key in self.keys else None


NOTHING_GROWS = GrowingContainers()


@dataclass
class FixedRequests:
    known: Mapping[ContainerKey, Requested]

    async def now(self) -> Mapping[ContainerKey, Requested]:
        return self.known


class MemoryUsages(Failing):
    def __init__(self) -> None:
        self.kept: dict[ContainerKey, SavedUsage] = {}
        self.steps: list[set[ContainerKey]] = []

    async def load(self) -> Mapping[ContainerKey, SavedUsage]:
        self._work()
        return dict(self.kept)

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        self._work()
        self.steps.append(set(kept))
        self.kept |= kept
        for key in gone:
            self.kept.pop(key, None)


def learn(
    usages: Usages,
    samples: Iterable[tuple[ContainerKey, Summary]],
    *,
    now: float,
    requested: float = 0.0,
) -> Learned:
    """Have *usages* learn *samples*, each of which says whose it is: each pod is a replica, or each path."""
    keys: dict[ContainerKey, int] = {}
    of, rows, numbers = [], [], []
    for key, one in samples:
        of.append(keys.setdefault(key, len(keys)))
        series = Series(one.path, one.pod_uid, one.container_id, one.program)
        numbers.append(replica_number("n1", series))
        told = (one.throttled, one.oom_kills, one.cpu_waiting, one.memory_waiting)
        further = [np.nan if f is None else f for f in told]
        rows.append([one.from_at, one.to_at, one.cpu_cores, one.memory_bytes, *further])
    columns = np.array(rows, dtype=np.float64).reshape(-1, 8).T
    from_at, to_at, cpu_cores, memory_bytes, throttled, kills, cpu_waiting, memory_waiting = columns
    taken = UsageSamples(
        keys=list(keys),
        of=np.array(of, dtype=np.intp),
        from_at=from_at,
        to_at=to_at,
        cpu_cores=cpu_cores,
        memory_bytes=memory_bytes,
        replicas=np.array(numbers, dtype=np.int64),
        throttled=throttled,
        kills=kills,
        cpu_waiting=cpu_waiting / 100,
        memory_waiting=memory_waiting / 100,
        requested=np.where(kills > 0, requested, 0.0),
    )
    return usages.learn(taken, now=now)


def columns_of(*rows: KnownUsage) -> UsageColumns:
    """*rows*, which share their knobs and margins, as columns."""
    named: dict[str, Any] = {
        name: np.array([getattr(row, name) for row in rows])
        for name in KnownUsage.__struct_fields__
        if name not in ("key", "knobs", "margins")
    }
    keys, knobs, margins = [row.key for row in rows], rows[0].knobs, rows[0].margins
    return UsageColumns(keys=keys, knobs=knobs, margins=margins, **named)


@dataclass(frozen=True, kw_only=True)
class BoundedAmount:
    value: int
    lower: int
    upper: int | None
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A row of `RecommendedColumns`."""

    state: str
    cpu_millis: BoundedAmount
    memory_mb: BoundedAmount
    limits_memory: bool
    memory_margin: float
    reason: str


@dataclass(frozen=True)
class NotYet:
    reason: str


def recommended_rows(seen: UsageColumns, *, now: float) -> list[Recommendation | NotYet]:
    found = recommend(seen, now=now)

    def amount(columns: BoundedColumns, row: int) -> BoundedAmount:
        upper = int(columns.upper[row])
        return BoundedAmount(
            value=int(columns.value[row]),
            lower=int(columns.lower[row]),
            upper=None if upper == NO_BOUND else upper,
            confidence=round(float(columns.confidence[row]), 3),
        )

    return [
        NotYet(found.reasons[row])
        if state == "not_yet"
        else Recommendation(
            state=state,
            cpu_millis=amount(found.cpu_millis, row),
            memory_mb=amount(found.memory_mb, row),
            limits_memory=bool(found.limits_memory[row]),
            memory_margin=float(found.memory_margin[row]),
            reason=found.reasons[row],
        )
        for row, state in enumerate(found.states)
    ]
