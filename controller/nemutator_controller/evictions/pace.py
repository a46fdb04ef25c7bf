"""How fast pods may be evicted: by workload, by node, and all together."""

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from nemutator_controller.evictions.records import EvictablePod, OwningWorkload

PERIOD_S = 60.0
"""Evictions are counted within it."""

SETTLING_S = 300.0
"""A workload that has lost a pod to us has so long to have as many ready pods as before. It may have been
scaled down meanwhile: then it never has."""

OF_ALL = "the brain evicts no more pods in a minute"
OF_NODE = "no more pods of its node are evicted in a minute"
OF_WORKLOAD = "its workload has as many pods away as it may"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionBudgets:
    per_minute: int
    node_per_minute: int
    workload_at_once: int
    """Pods of one workload that may be away because of us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Pods of one workload."""

    ready: int
    unready: int
    missing: int
    """Ready ones that it has lost to us and does not have again."""


@dataclass(slots=True)
class _Settling:
    ready: int | None
    """The pods that were ready before us; None: an earlier life knew."""
    until: float


@dataclass(slots=True)
class EvictionPace:
    budgets: EvictionBudgets
    _times: dict[Hashable, deque[float]] = field(default_factory=dict, init=False)
    _settling: dict[OwningWorkload, _Settling] = field(default_factory=dict, init=False)
    _sent: set[str] = field(default_factory=set, init=False)
    """Uids of evicted pods that are still seen."""

    @property
    def sent(self) -> AbstractSet[str]:
        """Uids of evicted pods that were seen still."""
        return self._sent

    def standing(
        self, workload: OwningWorkload | None, together: Sequence[EvictablePod], *, now: float
    ) -> Standing:
        """How the workload does whose pods are *together*."""
        ready = sum(each.is_ready and each.uid not in self._sent for each in together)
        return Standing(
            ready=ready,
            unready=sum(not each.is_ready for each in together),
            missing=self._missing(workload, ready, now),
        )

    def why_not(self, pod: EvictablePod, standing: Standing, *, now: float) -> str:
        """Why *pod*, of a workload of that *standing*, has to stay for now; empty: it may go."""
        budgets = self.budgets
        if self._spent(None, now) >= budgets.per_minute:
            return OF_ALL
        if self._spent(pod.node, now) >= budgets.node_per_minute:
            return OF_NODE
        # A pod that is not ready serves nobody: the workload loses nothing with it.
        unready = standing.unready if pod.is_ready else 0
        away = max(unready, standing.missing)
        return OF_WORKLOAD if away >= budgets.workload_at_once else ""

    def evicted(self, pod: EvictablePod, standing: Standing, *, now: float) -> None:
        for key in (None, pod.node):
            self._times.setdefault(key, deque()).append(now)
        if pod.workload is not None and pod.is_ready:
            before = self._settling.get(pod.workload)
            earlier = 0 if before is None else before.ready or 0
            ready = max(standing.ready, earlier)
            self._settling[pod.workload] = _Settling(ready, now + SETTLING_S)
        self._sent.add(pod.uid)

    def resumed(self, pods: Iterable[tuple[EvictablePod, float]], *, now: float) -> None:
        """Pods were evicted so many seconds ago, oldest first, by an earlier life of this process: their
        workloads settle first."""
        for pod, ago_s in pods:
            for key in (None, pod.node):
                self._times.setdefault(key, deque()).append(now - ago_s)
            if pod.workload is not None:
                self._settling[pod.workload] = _Settling(None, now + PERIOD_S)

    def forget(self, seen: Iterable[EvictablePod], *, now: float) -> None:
        """What is over."""
        self._sent.intersection_update(pod.uid for pod in seen)
        self._settling = {k: each for k, each in self._settling.items() if each.until > now}
        self._times = {k: times for k, times in self._times.items() if self._spent(k, now)}

    def _missing(self, workload: OwningWorkload | None, ready: int, now: float) -> int:
        settling = None if workload is None else self._settling.get(workload)
        if settling is None or settling.until <= now:
            return 0
        if settling.ready is None:
            return self.budgets.workload_at_once
        return max(0, settling.ready - ready)

    def _spent(self, key: Hashable, now: float) -> int:
        times = self._times.get(key, deque())
        while times and times[0] <= now - PERIOD_S:
            times.popleft()
        return len(times)
