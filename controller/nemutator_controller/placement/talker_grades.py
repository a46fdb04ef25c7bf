"""Who exchanges so much with whom that admission should know, in grades that stay.

Each change has admission plan for its pods anew. So it is told in quarters of the most, which do not flap; what is less
than a quarter of that is no reason to be near.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.admission_snapshots import (
    MOST_TALKERS,
    MOST_TALKING,
    TalkerSnapshot,
    TalkingPeer,
    TalkingWorkload,
)

from nemutator_controller.hysteresis import HeldGrades
from nemutator_controller.mutations.affinity import OF_ONE_POD
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, Workload

LEAST_RATE = 10_000.0
"""Bytes per second with one pod: of less nobody gains by being near."""

QUARTERS = 4

MOST_LABELS = 16
LONGEST_LABELS = 1_000
"""Characters. A selector of more is not worth its place in each pod."""

OF_ONE_RUN = frozenset(
    {
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
    }
)
"""Labels that the pods of a CronJob's next run do not have."""

NOT_SELECTING = OF_ONE_POD | OF_ONE_RUN

OWN = f"{names.DOMAIN}/"


@dataclass(slots=True)
class TalkerGrades:
    left_off: int = field(default=0, init=False)
    """Workloads of which nothing is told, for want of room."""
    _held: HeldGrades[tuple[Workload, Workload]] = field(default_factory=HeldGrades, init=False)

    def __len__(self) -> int:
        """Of pairs, those that are told or may be soon."""
        return len(self._held)

    def see(self, found: NodesSnapshot) -> None:
        """Once in each round."""
        scores = dict.fromkeys(self._held, 0.0)
        known = {one for one, _ in self._held}
        self.left_off = 0
        for one in sorted(found.peers, key=lambda one: (one not in known, one)):
            if one not in known and len(known) >= MOST_TALKING:
                self.left_off += 1
                continue
            known.add(one)
            scores.update(_scored(one, found))
        self._held.assess(scores)

    def told(self, found: NodesSnapshot) -> TalkerSnapshot:
        peers: dict[Workload, list[tuple[int, Workload]]] = defaultdict(list)
        for pair in self._held:
            if quarters := self._held.grade(pair):
                one, other = pair
                peers[one].append((-quarters, other))
        items: list[TalkingWorkload] = []
        for one in sorted(peers):
            near = tuple(
                TalkingPeer(namespace=other[0], labels=labels, quarters=-quarters)
                for quarters, other in sorted(peers[one])
                if (labels := selecting(found.labels.get(other, {})))
            )
            if near:
                namespace, kind, name = one
                items.append(
                    TalkingWorkload(
                        namespace=namespace,
                        owner_kind=kind,
                        owner=name,
                        peers=near[:MOST_TALKERS],
                    )
                )
        return TalkerSnapshot(tuple(items[:MOST_TALKING]))


def _scored(
    one: Workload, found: NodesSnapshot
) -> Iterator[tuple[tuple[Workload, Workload], float]]:
    rates = found.peers[one]
    most = max(rates.values(), default=0.0)
    best = sorted(rates, key=lambda other: (-rates[other], other))[: 2 * MOST_TALKERS]
    for other in best:
        if rates[other] >= LEAST_RATE:
            yield (one, other), QUARTERS * rates[other] / most


def selecting(labels: Mapping[str, str]) -> dict[str, str]:
    """Those by which the workload's pods are found, also the next ones; none where that takes too much."""
    found = {
        key: value
        for key, value in sorted(labels.items())
        if key not in NOT_SELECTING and not key.startswith(OWN)
    }
    size = sum(len(key) + len(value) for key, value in found.items())
    return found if len(found) <= MOST_LABELS and size <= LONGEST_LABELS else {}
