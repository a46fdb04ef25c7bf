"""Sums of many pods at once, by what they have in common: their workload, or their node.

They are made in arrays: what a pod has used is read out of those of its node, and no object of it is made for each of
300 000 containers.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.current_use import COLUMNS, NodeUse
from nemutator_controller.inventory.model import CountedPod, Tally

OOM_KILLED = "OOMKilled"

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

_amounts = attrgetter(
    "requests.cpu_millis", "requests.memory_bytes", "limits.cpu_millis", "limits.memory_bytes"
)
_WHOLE = 10
"""So many figures of a pod are whole: what `_counts` and these say."""

_SUMS = ("cpu_cores", "memory_bytes")
_LARGEST = ("throttled", "cpu_waiting", "memory_waiting", "disk_waiting")
_NETWORK = ("network_received", "network_sent")
"""The containers of a pod share one network: each has the whole."""


class PodSums:
    """Of the pods that it is made of, in their order."""

    def __init__(self, pods: Sequence[CountedPod]) -> None:
        self._whole = np.array(
            [(*_counts(each), *_amounts(each.demand)) for each in pods], dtype=np.int64
        ).reshape(len(pods), _WHOLE)
        of, used = _used(pods)
        column = {name: used[COLUMNS.index(name)] for name in (*_SUMS, *_LARGEST, *_NETWORK)}
        # A byte is the least there is.
        column["memory_bytes"] = np.floor(column["memory_bytes"])
        count = len(pods)
        self._sums = [_summed(column[name], of, count) for name in _SUMS]
        self._sums += [_largest(column[name], of, count) for name in _NETWORK]
        self._largest = [_largest(column[name], of, count) for name in _LARGEST]

    def each(self) -> list[Tally]:
        return self.by(range(len(self._whole)), len(self._whole))

    def by(self, groups: Sequence[int], count: int) -> list[Tally]:
        """Of *count* groups, where the entries of *groups* say to which each pod belongs; negative ones to none."""
        of = np.asarray(groups, dtype=np.int64)
        chosen = np.flatnonzero(of >= 0)
        of = of[chosen]
        whole = np.zeros((count, _WHOLE), dtype=np.int64)
        np.add.at(whole, of, self._whole[chosen])
        sums = [_summed(one[chosen], of, count) for one in self._sums]
        largest = [_largest(one[chosen], of, count) for one in self._largest]
        known = [_known(one) for one in (*sums, *largest)]
        rows = zip(*known, strict=True)
        return [_tally(*both) for both in zip(whole.tolist(), rows, strict=True)]


def _tally(whole: Sequence[int], known: Sequence[float | None]) -> Tally:
    pods, ready, pending, unscheduled, restarts, oom_ended, *amounts = whole
    cpu_millis, memory_bytes, limit_cpu_millis, limit_memory_bytes = amounts
    cpu, memory, received, sent, throttled, cpu_waiting, memory_waiting, disk_waiting = known
    return Tally(
        pods=pods,
        ready=ready,
        pending=pending,
        unscheduled=unscheduled,
        restarts=restarts,
        oom_ended=oom_ended,
        requests=CpuMemory(cpu_millis, memory_bytes),
        limits=CpuMemory(limit_cpu_millis, limit_memory_bytes),
        cpu_cores=cpu,
        memory_bytes=None if memory is None else int(memory),
        throttled=throttled,
        cpu_waiting=cpu_waiting,
        memory_waiting=memory_waiting,
        disk_waiting=disk_waiting,
        network_received=received,
        network_sent=sent,
    )


def _counts(counted: CountedPod) -> tuple[int, ...]:
    """Itself, and whether it is ready, pending, without a node; restarts, and ends for want of memory."""
    status, restarts, oom_ended = counted.pod.status, 0, 0
    for statuses in (status.container_statuses, status.init_container_statuses):
        for each in statuses:
            restarts += each.restart_count
            if (ended := each.last_state.terminated) is not None:
                oom_ended += ended.reason == OOM_KILLED
    is_unscheduled = not counted.pod.spec.node_name
    return 1, status.is_ready, status.phase == "Pending", is_unscheduled, restarts, oom_ended


def _used(pods: Iterable[CountedPod]) -> tuple[Whole, Numbers]:
    """The number of the pod of each container that has been reported, and what that used, by column."""
    nodes: dict[int, tuple[NodeUse, list[int], list[int]]] = {}
    for number, each in enumerate(pods):
        if (use := each.use) is not None:
            node = nodes.get(id(use.node))
            if node is None:
                node = nodes[id(use.node)] = use.node, [], []
            for one in (*use.by_status, *use.ended):
                if one is not None:
                    node[1].append(number)
                    node[2].append(one)
    if not nodes:
        return np.empty(0, dtype=np.int64), np.empty((len(COLUMNS), 0))
    of = np.concatenate([np.array(numbers, dtype=np.int64) for _, numbers, _ in nodes.values()])
    used = np.concatenate([node.columns[:, rows] for node, _, rows in nodes.values()], axis=1)
    return of, used.astype(np.float64)


def _summed(values: Numbers, of: Whole, count: int) -> Numbers:
    """Of what is known; NaN where nothing is."""
    is_known = ~np.isnan(values)
    of = of[is_known]
    summed = np.full(count, np.nan)
    summed[of] = 0.0
    np.add.at(summed, of, values[is_known])
    return summed


def _largest(values: Numbers, of: Whole, count: int) -> Numbers:
    largest = np.full(count, np.nan)
    np.fmax.at(largest, of, values)
    return largest


def _known(values: Numbers) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN
