"""What sizing asks of a watched cluster in its ports: owners of series, requests, killed containers."""

import asyncio
import functools
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from nemutator_common.clocks import Clock

from nemutator_controller.app.pod_changes import changes_of_pods
from nemutator_controller.cluster.pods import ClusterSnapshot, PodOwner
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.following.missed import moment_of
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.inventory.tallies import OOM_KILLED
from nemutator_controller.kube.objects import Container, Pod
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.killed_containers import KilledContainer

MOST_ABOVE = 4
"""A container is killed at its limit. One that is further above the request says less: the node may have run out of
memory before."""

REQUESTED_S = 30.0
"""How old the requests of containers may be: gathering them reads every pod."""


@dataclass(frozen=True, slots=True)
class OwnersOfUse:
    """The owners of series, for sizing."""

    watch: ClusterWatch

    def of(self, node: str, series: Series) -> ContainerKey | None:
        placed = self.watch.of(node, series.pod_uid, series.container_id)
        # A pod's own cgroup is the sum of its containers, which are sized one by one. A program is
        # a part of a container, for which nothing can be requested.
        if placed is None or placed.container is None or series.program is not None:
            return None
        return ContainerKey(
            placed.namespace, placed.owner.kind, placed.owner.name, placed.container
        )


@dataclass(frozen=True, slots=True)
class MemoryOfKilled:
    """The `RequestedMemory` of sizing: what a container had that was killed."""

    watch: ClusterWatch

    def of(self, series: Series) -> float:
        snapshot = self.watch.snapshot()
        pod = snapshot.pod(series.pod_uid) if snapshot and series.pod_uid else None
        if snapshot is None or pod is None:
            return 0.0
        placed = snapshot.of(pod.spec.node_name, series.pod_uid, series.container_id)
        container = None if placed is None else placed.container
        return 0.0 if container is None else _memory_of(pod, container)


@dataclass(frozen=True, slots=True)
class KilledByKubelet:
    """The `KilledContainers` of sizing."""

    watch: ClusterWatch

    async def changes(self) -> AsyncIterator[KilledContainer]:
        async for pod in changes_of_pods(self.watch, "kills"):
            for status in pod.status.container_statuses:
                ended = status.last_state.terminated
                if ended is None or ended.reason != OOM_KILLED:
                    continue
                at, snapshot = moment_of(ended.finished_at), self.watch.snapshot()
                if at is None or snapshot is None:
                    continue
                owner = snapshot.owner(pod)
                yield KilledContainer(
                    key=ContainerKey(pod.metadata.namespace, owner.kind, owner.name, status.name),
                    pod_uid=pod.metadata.uid,
                    at=at,
                    requested=_memory_of(pod, status.name),
                )


def _memory_of(pod: Pod, container: str) -> float:
    """What it had when it was killed, as far as that can be said."""
    for one in (*pod.spec.containers, *pod.spec.init_containers):
        if one.name == container:
            asked = float(_of_container(one).memory_bytes or 0)
            limit = float(_of_texts(None, one.resources.limits.get("memory"), 1).memory_bytes or 0)
            return max(asked, min(limit, MOST_ABOVE * asked) if asked else limit)
    return 0.0


@dataclass(slots=True)
class RequestedNow:
    """The `Requests` of sizing."""

    watch: ClusterWatch
    clock: Clock
    _known: Mapping[ContainerKey, Requested] = field(default_factory=dict, init=False)
    _gathered_at: float | None = field(default=None, init=False)
    _gathering: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def now(self) -> Mapping[ContainerKey, Requested]:
        async with self._gathering:
            now = self.clock.monotonic()
            snapshot = self.watch.snapshot()
            is_old = self._gathered_at is None or now - self._gathered_at >= REQUESTED_S
            if is_old and snapshot is not None:
                # In a thread: 150 000 pods take longer than others may wait.
                known = await asyncio.to_thread(requested, snapshot)
                self._known, self._gathered_at = known, now
        return self._known


def requested(snapshot: ClusterSnapshot) -> dict[ContainerKey, Requested]:
    """What the newest pod of each workload requests, container by container."""
    newest: dict[tuple[str, PodOwner], Pod] = {}
    running: Counter[tuple[str, PodOwner]] = Counter()
    for pods in snapshot.families():
        pod = max(pods, key=_created)
        workload = (pod.metadata.namespace, snapshot.owner(pod))
        running[workload] += sum(each.is_running for each in pods)
        other = newest.get(workload)
        if other is None or _created(pod) > _created(other):
            newest[workload] = pod
    return {
        ContainerKey(namespace, owner.kind, owner.name, container.name): _of_container(
            container, pods=max(1, running[namespace, owner])
        )
        for (namespace, owner), pod in newest.items()
        for container in (*pod.spec.containers, *pod.spec.init_containers)
    }


def _created(pod: Pod) -> str:
    return pod.metadata.creation_timestamp


def _of_container(container: Container, *, pods: int = 1) -> Requested:
    requests = container.resources.requests
    return _of_texts(requests.get("cpu"), requests.get("memory"), pods)


@functools.lru_cache(maxsize=4096)
def _of_texts(cpu: str | None, memory: str | None, pods: int) -> Requested:
    return Requested(
        None if cpu is None else parse_quantity(cpu).to_millis(),
        None if memory is None else parse_quantity(memory).to_bytes(),
        pods,
    )
