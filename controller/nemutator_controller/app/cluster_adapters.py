"""Adapters that give features what they ask for in their ports, from one watched cluster."""

import asyncio
import functools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from nemutator_common.clocks import Clock
from nemutator_common.names import (
    AGEING,
    ENVIRONMENT_PREFIX,
    MUTATION,
    PROFILE,
    PROFILE_RESULT,
)

from nemutator_controller.access.signed_tokens import BoundPod
from nemutator_controller.ageing.marks import NotMarkedError
from nemutator_controller.ageing.model import AgedWorkload, AgeingFinding, WindowSource
from nemutator_controller.ageing.owners import ByGroup
from nemutator_controller.cluster.pods import (
    CONTROLLER,
    DECLARED,
    MARKED,
    ClusterSnapshot,
    PodOwner,
)
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.following.missed import moment_of
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.inventory.tallies import OOM_KILLED
from nemutator_controller.journal.records import StampedPod
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.objects import Container, Pod
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.profiles.records import (
    AnnotatedPod,
    KnownPod,
    PodRef,
    ResultUnwrittenError,
)
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.killed_containers import KilledContainer
from nemutator_controller.windows.choice import DeclaredPod

REQUESTED_S = 30.0
"""How old the requests of containers may be: gathering them reads every pod."""

INTERESTING = 1_000
"""Changes of pods that may wait until their annotations are read."""

AT_ONCE = 500
"""Pods that are read in one turn of the event loop."""


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
    """The `RequestedMemory` of sizing: what a container requests that was killed."""

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
        async for pod in _pods(self.watch, "kills"):
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
    """What it requests."""
    for one in (*pod.spec.containers, *pod.spec.init_containers):
        if one.name == container:
            return float(_of_container(one).memory_bytes or 0)
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


@dataclass(frozen=True, slots=True)
class NamedPods:
    """The `KnownPods` of profiles."""

    watch: ClusterWatch

    def find(self, name: str) -> KnownPod | None:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return None
        namespace, slash, pod_name = name.partition("/")
        pod = snapshot.pods.get(namespace, pod_name) if slash else snapshot.pod(name)
        if pod is None:
            return None
        return KnownPod(_ref(pod), pod.spec.node_name, _owner(self.watch, pod))


@dataclass(frozen=True, slots=True)
class AgentPods:
    """The `RunningAgents` of access."""

    watch: ClusterWatch

    def runs(self, pod: BoundPod) -> bool:
        snapshot = self.watch.snapshot()
        found = None if snapshot is None else snapshot.pod(pod.uid)
        return (
            found is not None
            and found.metadata.key == f"{pod.namespace}/{pod.name}"
            and found.spec.node_name == pod.node
            and not found.metadata.deletion_timestamp
            and found.status.phase not in ("Succeeded", "Failed")
        )


@dataclass(frozen=True, slots=True)
class DeclaredPods:
    """The `NodePods` of windows."""

    watch: ClusterWatch

    def find(self, node: str, uid: str) -> DeclaredPod | None:
        snapshot = self.watch.snapshot()
        pod = None if snapshot is None else snapshot.pod(uid)
        # A node may ask about its own pods only.
        if pod is None or pod.spec.node_name != node:
            return None
        meta = pod.metadata
        return DeclaredPod(meta.namespace, meta.labels, meta.annotations)


@dataclass(frozen=True, slots=True)
class ImagesOfDeclaringPods:
    """The `ImagesInUse` of images: whatever a pod declares a variable for, its next one may, too."""

    watch: ClusterWatch

    def now(self) -> Collection[str] | None:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return None
        return {
            container.image
            for pod in snapshot.pods.by(ENVIRONMENT_PREFIX, DECLARED)
            for container in (*pod.spec.init_containers, *pod.spec.containers)
            if container.image and container.name != INIT_CONTAINER
        }


@dataclass(frozen=True, slots=True)
class PodsThatAsk:
    """The `AnnotatedPods` of profiles."""

    watch: ClusterWatch

    async def changes(self) -> AsyncIterator[AnnotatedPod]:
        async for pod in _pods(self.watch, "profiles"):
            annotations = pod.metadata.annotations
            if (wanted := annotations.get(PROFILE)) is not None:
                result = annotations.get(PROFILE_RESULT)
                owner = _owner(self.watch, pod)
                yield AnnotatedPod(_ref(pod), pod.spec.node_name, wanted, result, owner)


@dataclass(frozen=True, slots=True)
class StampedPodChanges:
    """The `StampedPods` of the journal."""

    watch: ClusterWatch

    async def changes(self) -> AsyncIterator[StampedPod]:
        async for pod in _pods(self.watch, "journal"):
            meta = pod.metadata
            if (stamp := meta.annotations.get(MUTATION)) is not None:
                yield StampedPod(pod_subject(meta.namespace, meta.name, meta.uid), stamp)


async def _pods(watch: ClusterWatch, subscriber: str) -> AsyncIterator[Pod]:
    """First those that there are, then each that comes or changes."""
    with watch.pods.subscribe(subscriber, capacity=INTERESTING) as subscription:
        async for change in subscription:
            if isinstance(change, Resync):
                for number, pod in enumerate(change.snapshot.objects.values(), 1):
                    yield pod
                    if number % AT_ONCE == 0:
                        await asyncio.sleep(0)
            elif change.after is not None:
                yield change.after


@dataclass(frozen=True, slots=True)
class ResultsOnPods:
    """The `Results` of profiles."""

    writer: Writer
    announcer: Announcer

    async def write(self, pod: PodRef, result: str) -> None:
        patch = {"metadata": {"annotations": {str(PROFILE_RESULT): result}}}
        try:
            await self.writer.merge_patch(
                PODS, pod.namespace, pod.name, patch, only_if=OnlyIf(uid=pod.uid)
            )
        except (KubeError, OverBudgetError) as error:
            raise ResultUnwrittenError(str(error)) from error

    def notify(self, pod: PodRef, note: str) -> None:
        self.announcer.announce(
            News("v1", "Pod", pod.namespace, pod.name, pod.uid, "Profile", note, "Warning")
        )


@dataclass(frozen=True, slots=True)
class WindowOwners:
    """The `WorkloadOwners` of ageing."""

    watch: ClusterWatch

    def of(self, source: WindowSource) -> AgedWorkload | None:
        if source.pod_uid is None:
            return ByGroup().of(source)
        placed = self.watch.of(source.node, source.pod_uid, source.container_id)
        if placed is None:
            return None
        owner, container = placed.owner, placed.container or "-"
        return AgedWorkload(placed.namespace, owner.kind, owner.name, container, source.program)


@dataclass(frozen=True, slots=True)
class AgeingNewsOnPods:
    """The `AgeingNews`: an Event of one pod of the workload."""

    pods: NamedPods
    announcer: Announcer
    leads: Callable[[], bool]
    """Every brain finds it out, and one says it."""

    def notify(self, finding: AgeingFinding, note: str) -> None:
        if not self.leads():
            return
        uids = [one.pod_uid for one in finding.replicas if one.pod_uid is not None]
        found = (self.pods.find(uid) for uid in uids)
        pod = next((one.ref for one in found if one is not None), None)
        if pod is None:
            return
        self.announcer.announce(
            News("v1", "Pod", pod.namespace, pod.name, pod.uid, "Ageing", note, "Warning")
        )


@dataclass(frozen=True, slots=True)
class PodsWithAgeing:
    """The `MarkablePods` of ageing: an annotation."""

    watch: ClusterWatch
    writer: Writer

    def standing(self, uids: Collection[str]) -> Mapping[str, str | None]:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return {}
        read = (found for uid in uids if (found := snapshot.pod(uid)) is not None)
        return {
            pod.metadata.uid: pod.metadata.annotations.get(AGEING)
            for pod in (*read, *snapshot.pods.by(AGEING, MARKED))
        }

    async def mark(self, uid: str, note: str | None) -> None:
        snapshot = self.watch.snapshot()
        pod = None if snapshot is None else snapshot.pod(uid)
        if pod is None:
            return
        patch = {"metadata": {"annotations": {str(AGEING): note}}}
        namespace, name = pod.metadata.namespace, pod.metadata.name
        try:
            await self.writer.merge_patch(PODS, namespace, name, patch, only_if=OnlyIf(uid=uid))
        except NotFoundError:
            return
        except (KubeError, OverBudgetError) as error:
            raise NotMarkedError(str(error)) from error


def _ref(pod: Pod) -> PodRef:
    return PodRef(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)


def _owner(watch: ClusterWatch, pod: Pod) -> str:
    """What owns *pod*, as `namespace/name`; empty while that is not known."""
    snapshot = watch.snapshot()
    return "" if snapshot is None else f"{pod.metadata.namespace}/{snapshot.owner(pod).name}"


def requested(snapshot: ClusterSnapshot) -> dict[ContainerKey, Requested]:
    """What the newest pod of each workload requests, container by container."""
    newest: dict[tuple[str, PodOwner], Pod] = {}
    for pod in snapshot.newest():
        workload = (pod.metadata.namespace, snapshot.owner(pod))
        other = newest.get(workload)
        if other is None or _created(pod) > _created(other):
            newest[workload] = pod
    pods = _running(snapshot)
    return {
        ContainerKey(namespace, owner.kind, owner.name, container.name): replace(
            _of_container(container), pods=max(1, pods[namespace, owner])
        )
        for (namespace, owner), pod in newest.items()
        for container in (*pod.spec.containers, *pod.spec.init_containers)
    }


def _running(snapshot: ClusterSnapshot) -> Counter[tuple[str, PodOwner]]:
    """Pods of each workload that run."""
    found: Counter[tuple[str, PodOwner]] = Counter()
    for group in snapshot.pods.groups(CONTROLLER):
        pods = list(group)
        workload = (pods[0].metadata.namespace, snapshot.owner(pods[0]))
        found[workload] += sum(pod.is_running for pod in pods)
    return found


def _created(pod: Pod) -> str:
    return pod.metadata.creation_timestamp


def _of_container(container: Container) -> Requested:
    requests = container.resources.requests
    return _of_texts(requests.get("cpu"), requests.get("memory"))


@functools.lru_cache(maxsize=4096)
def _of_texts(cpu: str | None, memory: str | None) -> Requested:
    return Requested(
        None if cpu is None else parse_quantity(cpu).to_millis(),
        None if memory is None else parse_quantity(memory).to_bytes(),
    )
