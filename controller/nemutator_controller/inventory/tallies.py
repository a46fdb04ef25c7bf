"""Sums of many pods at once, by what they have in common: their workload, or their node.

They are made in arrays: what a pod has used is read out of those of its node, and no object of it is made for each of
300 000 containers.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.counted_pods import CountedPods
from nemutator_controller.inventory.current_use import COLUMNS, NodeUse
from nemutator_controller.inventory.model import Tally
from nemutator_controller.kube.objects import Pod

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


PODS_AT_ONCE = 4_096
"""Pods whose figures become an array at once, which no other thread interrupts."""

NODES_AT_ONCE = 256
"""Nodes whose use is read at once: of 5 000 it would be 40 MB beside what is kept of it."""


class PodSums:
    """Of the pods that it is made of, in their order."""

    def __init__(
        self,
        pods: CountedPods,
        *,
        pods_at_once: int = PODS_AT_ONCE,
        nodes_at_once: int = NODES_AT_ONCE,
    ) -> None:
        count = len(pods)
        self._whole = np.empty((count, _WHOLE), dtype=np.int64)
        for begin in range(0, count, pods_at_once):
            some = pods[begin : begin + pods_at_once]
            self._whole[begin : begin + len(some)] = [
                (*_counts(pod), *_amounts(demand))
                for pod, demand in zip(some.pods, some.demands, strict=True)
            ]
        self._sums = [np.full(count, np.nan) for _ in (*_SUMS, *_NETWORK)]
        self._largest = [np.full(count, np.nan) for _ in _LARGEST]
        # All containers of a pod are on one node, so no later part has more of it.
        for of, used in _used(pods, nodes_at_once):
            column = {name: used[COLUMNS.index(name)] for name in (*_SUMS, *_LARGEST, *_NETWORK)}
            # A byte is the least there is.
            column["memory_bytes"] = np.floor(column["memory_bytes"])
            for into, name in zip(self._sums, (*_SUMS, *_NETWORK), strict=True):
                (_add_largest if name in _NETWORK else _add_sums)(into, column[name], of)
            for into, name in zip(self._largest, _LARGEST, strict=True):
                _add_largest(into, column[name], of)

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


def _counts(pod: Pod) -> tuple[int, ...]:
    """Itself, and whether it is ready, pending, without a node; restarts, and ends for want of memory."""
    status, restarts, oom_ended = pod.status, 0, 0
    for statuses in (status.container_statuses, status.init_container_statuses):
        for each in statuses:
            restarts += each.restart_count
            if (ended := each.last_state.terminated) is not None:
                oom_ended += ended.reason == OOM_KILLED
    is_unscheduled = not pod.spec.node_name
    return 1, status.is_ready, status.phase == "Pending", is_unscheduled, restarts, oom_ended


def _used(pods: CountedPods, at_once: int) -> Iterator[tuple[Whole, Numbers]]:
    """The number of the pod of each container that has been reported, and what that used, by column; of some nodes at a time."""
    nodes: dict[int, tuple[NodeUse, list[int], list[int]]] = {}
    columns = zip(pods.nodes, pods.by_status, pods.ended, strict=True)
    for number, (use, by_status, ended) in enumerate(columns):
        if use is not None:
            node = nodes.get(id(use))
            if node is None:
                node = nodes[id(use)] = use, [], []
            for one in (*by_status, *ended):
                if one is not None:
                    node[1].append(number)
                    node[2].append(one)
    several = list(nodes.values())
    for begin in range(0, len(several), at_once):
        some = several[begin : begin + at_once]
        of = np.concatenate([np.array(numbers, dtype=np.int64) for _, numbers, _ in some])
        used = np.concatenate([node.columns[:, rows] for node, _, rows in some], axis=1)
        yield of, used.astype(np.float64)


def _summed(values: Numbers, of: Whole, count: int) -> Numbers:
    """Of what is known; NaN where nothing is."""
    summed = np.full(count, np.nan)
    _add_sums(summed, values, of)
    return summed


def _largest(values: Numbers, of: Whole, count: int) -> Numbers:
    largest = np.full(count, np.nan)
    _add_largest(largest, values, of)
    return largest


def _add_sums(summed: Numbers, values: Numbers, of: Whole) -> None:
    """Sums in the places *of*, of which nothing is known before."""
    is_known = ~np.isnan(values)
    of = of[is_known]
    summed[of] = 0.0
    np.add.at(summed, of, values[is_known])


def _add_largest(largest: Numbers, values: Numbers, of: Whole) -> None:
    np.fmax.at(largest, of, values)


def _known(values: Numbers) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN
