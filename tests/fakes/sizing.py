"""What sizing needs from others, in memory."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from nemutator_common.wire import Summary
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.sizing.keys import ByPath, ContainerKey, Requested, replicas
from nemutator_controller.sizing.packed_rows import SavedUsage
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
        found = replica_of("n1", Series(one.path, one.pod_uid, one.container_id, one.program))
        numbers.append(found.number if found else 0)
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


replica_of = replicas(ByPath().of)
