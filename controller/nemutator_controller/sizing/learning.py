"""Learns from what containers have used, as soon as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.keys import ContainerKey, OwnedReplica
from nemutator_controller.sizing.ports import RequestedMemory
from nemutator_controller.sizing.samples import UsageSamples, are_sound
from nemutator_controller.sizing.usages import Usages


@dataclass(frozen=True, slots=True)
class NothingRequested:
    """A `RequestedMemory` of machines outside of a cluster."""

    def of(self, series: Series) -> float:
        return 0.0


NOTHING_REQUESTED = NothingRequested()


@dataclass(frozen=True, slots=True)
class UsageLearner:
    """A `UsageConsumer`."""

    usages: Usages
    owners: SeriesOwners[OwnedReplica]
    process: Process
    requested: RequestedMemory = NOTHING_REQUESTED

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        owners = self.owners.of(node, points, now=now)
        cores, memory = points.column("cpu_cores"), points.column("memory_bytes")
        sound = are_sound(points.from_at, points.to_at, cores, memory, now=now)
        keys, numbers, replicas = _numbered(owners)
        of = numbers[points.of]
        owned = of >= 0
        taken = sound & owned
        kills = points.column("oom_kills")[taken]
        done = self.usages.learn(
            UsageSamples(
                keys=keys,
                of=of[taken],
                from_at=points.from_at[taken],
                to_at=points.to_at[taken],
                cpu_cores=cores[taken],
                memory_bytes=memory[taken],
                replicas=replicas[points.of[taken]],
                throttled=points.column("throttled")[taken],
                kills=kills,
                requested=self._requested(points, points.of[taken], kills),
            ),
            now=now,
        )
        meter = self.process.meter
        meter.count(names.SUMMARIES_DROPPED, int((~sound).sum()), reason="unsound")
        meter.count(names.SUMMARIES_DROPPED, int((sound & ~owned).sum()), reason="unknown_owner")
        meter.count(names.SUMMARIES_LEARNED, done.learned)
        meter.count(names.SUMMARIES_DROPPED, done.refused, reason="no_room")
        meter.count(names.USAGES_DROPPED, done.evicted, reason="count")
        meter.gauge(names.USAGES, len(self.usages))

    def _requested(self, points: UsagePoints, of: npt.NDArray[np.int32], kills: Numbers) -> Numbers:
        """Of those that were killed: kills are rare, and a look-up is not free."""
        found = np.zeros(len(of))
        for number in np.flatnonzero(kills > 0).tolist():
            found[number] = self.requested.of(points.series[int(of[number])])
        return found


def _numbered(
    owners: Sequence[OwnedReplica | None],
) -> tuple[list[ContainerKey], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Each owner once, and for each series its number, -1 where it is not known, and its replica's."""
    numbers: dict[ContainerKey, int] = {}
    of = [-1 if one is None else numbers.setdefault(one.key, len(numbers)) for one in owners]
    replicas = [0 if one is None else one.number for one in owners]
    return list(numbers), np.array(of, dtype=np.intp), np.array(replicas, dtype=np.int64)
