"""Whose series are: found out once for each series, and not for every point of it."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_points import Series, UsagePoints

K = TypeVar("K", bound=Hashable)

FIRST_RETRY_S = 10.0
LONGEST_RETRY_S = 600.0
"""An owner that is not known is asked for again, at ever longer intervals: a pod may be reported before
it is seen, and most groups that have no owner never get one."""

MOST_RETRIES = 1_000
"""Owners that are asked for again at one moment: of reports that are learned together, half of all groups may have none. The others are
asked for with the next report of their node."""


_UNASKED, _UNKNOWN, _OWNED = range(3)


@dataclass(slots=True)
class _Node(Generic[K]):
    series: Sequence[Series]
    owners: list[K | None] = field(default_factory=list)
    states: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    """Of each entry `_UNASKED`, `_UNKNOWN` or `_OWNED`: an array, because it is looked at for each point."""
    all_owned: bool = True
    """Of each series that is named the owner is known, as nearly always: then nothing is looked at for a point."""
    retry_at: float = 0.0
    retry_s: float = FIRST_RETRY_S


MOST_SHARED = 1 << 16
"""Owners of which equal ones are the same object."""


class SeriesOwners(Generic[K]):
    """The owners of the series of at most *most_nodes* nodes, as *find* knows them. Those that are equal are kept once: the
    containers of all pods of a workload are on many nodes, and as objects of their own take 20 KB of each node of 30 pods."""

    def __init__(
        self,
        find: Callable[[str, Series], K | None],
        *,
        most_nodes: int,
        most_retries: int = MOST_RETRIES,
    ) -> None:
        self._find = find
        self._most_retries = most_retries
        self.most_nodes = most_nodes
        self._shared: dict[K, K] = {}
        self._retried_at = -math.inf
        self._retried = 0
        """At that moment."""
        self._nodes: dict[str, _Node[K]] = {}
        """The last heard of at the end."""

    def of(self, node: str, points: UsagePoints, *, now: float) -> Sequence[K | None]:
        """The owner of each entry of *points.series*; None for those that are not known, or not asked for
        yet because nothing was reported of them."""
        known = self._nodes.pop(node, None)
        if known is None or known.series is not points.series:
            known = _Node(points.series)
        self._nodes[node] = known
        if len(self._nodes) > self.most_nodes:
            del self._nodes[next(iter(self._nodes))]
        self._ask(node, known, points.of, now=now)
        return known.owners

    def _ask(
        self, node: str, known: _Node[K], entries: npt.NDArray[np.int32], *, now: float
    ) -> None:
        if known.all_owned and len(known.series) == len(known.owners):
            return
        known.owners += [None] * (len(known.series) - len(known.owners))
        if len(known.owners) > len(known.states):
            known.all_owned = False
            more = np.zeros(len(known.owners) - len(known.states), dtype=np.int8)
            known.states = np.append(known.states, more)
        # What was named without a point yet is asked for when its first point comes.
        states = known.states[entries]
        lowest = int(states.min()) if len(states) else _OWNED
        if lowest == _OWNED:
            return
        if lowest == _UNASKED:
            known.retry_at, known.retry_s = now + FIRST_RETRY_S, FIRST_RETRY_S
        elif now < known.retry_at or not self._may_retry(now):
            return
        else:
            known.retry_s = min(2 * known.retry_s, LONGEST_RETRY_S)
            known.retry_at = now + known.retry_s
        asked = np.unique(entries[states == lowest]).tolist()
        if lowest == _UNKNOWN:
            self._retried += len(asked)
        for one in asked:
            owner = self._find(node, known.series[one])
            known.owners[one] = None if owner is None else self._one_of(owner)
            known.states[one] = _UNKNOWN if owner is None else _OWNED
        known.all_owned = bool(known.states.min() == _OWNED)

    def _may_retry(self, now: float) -> bool:
        if now != self._retried_at:
            self._retried_at, self._retried = now, 0
        return self._retried < self._most_retries

    def _one_of(self, owner: K) -> K:
        if len(self._shared) >= MOST_SHARED:
            # Those of workloads that are gone would stay for ever; what is there is found anew.
            self._shared = {}
        return self._shared.setdefault(owner, owner)
