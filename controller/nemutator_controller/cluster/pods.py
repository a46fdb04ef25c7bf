"""Which pod, container and owner a control group belongs to, from the names that kubelet gave it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
from nemutator_common import names

from nemutator_controller.cluster.owners import workload
from nemutator_controller.kube.objects import Object, Owner, Pod
from nemutator_controller.kube.store import StoreSnapshot
from nemutator_controller.kube.workload_objects import WatchedWorkload


class PodOwner(msgspec.Struct, frozen=True, gc=False):
    """The workload at the top of a pod's chain of owners; the pod itself when nobody owns it."""

    kind: str
    name: str


class RunningPod(msgspec.Struct, frozen=True, gc=False):
    """A pod or one of its containers, as it runs on a node."""

    namespace: str
    pod: str
    uid: str
    container: str | None
    owner: PodOwner


class PodLookup(Protocol):
    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        """The pod or container that *node* reports; None when it is not one of a pod on that node."""
        ...

    def namespace_of(self, node: str, pod_uid: str) -> str | None:
        """That of the same pod, whose owner is not looked for."""
        ...


class NoRunningPods:
    """The `PodLookup` of a machine that is in no cluster."""

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        return None

    def namespace_of(self, node: str, pod_uid: str) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """A `PodLookup` of one moment; the pods are indexed by uid."""

    pods: StoreSnapshot[Pod]
    replica_sets: StoreSnapshot[Object]
    jobs: StoreSnapshot[WatchedWorkload]

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        pod = self.on(node, pod_uid) if pod_uid else None
        if pod is None:
            return None
        return RunningPod(
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            uid=pod.metadata.uid,
            container=container_name(pod, container_id) if container_id else None,
            owner=self.owner(pod),
        )

    def namespace_of(self, node: str, pod_uid: str) -> str | None:
        pod = self.on(node, pod_uid)
        return None if pod is None else pod.metadata.namespace

    def on(self, node: str, pod_uid: str) -> Pod | None:
        """The pod, if it is one of *node*, which may speak for its own pods only."""
        pod = self.pod(pod_uid)
        return pod if pod is not None and pod.spec.node_name == node else None

    def holding(self, namespace: str) -> frozenset[str] | None:
        """The nodes that hold pods of *namespace*; None when it has none."""
        found = frozenset(pod.spec.node_name for pod in self.pods.by(NAMESPACE, namespace))
        return found or None

    def pod(self, uid: str) -> Pod | None:
        return next(iter(self.pods.by("uid", uid)), None)

    def together(self, pod: Pod) -> Iterator[Pod]:
        """The pods of its workload, itself too; those of other workloads are not looked at."""
        first = pod.metadata.controller
        if first is None:
            yield pod
            return
        makers = {first.uid}
        found = self._maker(pod, first)
        if found is not None and (top := found.metadata.controller) is not None:
            makers |= {each.metadata.uid for each in self.replica_sets.by(CONTROLLER, top.uid)}
        for uid in makers:
            yield from self.pods.by(CONTROLLER, uid)

    def families(self) -> Iterator[Sequence[Pod]]:
        """The pods of each manager together, and each pod that nobody manages by itself."""
        for group in self.pods.groups(CONTROLLER):
            yield tuple(group)
        for pod in self.pods.by(UNMANAGED, UNMANAGED):
            yield (pod,)

    def owner(self, pod: Pod) -> PodOwner:
        """Up the chain as far as it can change with each rollout or run."""
        first = pod.metadata.controller
        if first is None:
            return PodOwner("Pod", pod.metadata.name)
        if (found := self._maker(pod, first)) is not None:
            top = found.metadata.controller
            return PodOwner(first.kind, first.name) if top is None else PodOwner(top.kind, top.name)
        # It is not seen (yet), or gone: then its name has to do, as for admission.
        return PodOwner(*workload(first.kind, first.name, pod.metadata.labels))

    def _maker(self, pod: Pod, first: Owner) -> Object | None:
        """*first*, the ReplicaSet or Job that has made it, if that is seen."""
        found: Object | None = None
        if first.kind == "ReplicaSet":
            found = self.replica_sets.get(pod.metadata.namespace, first.name)
        elif first.kind == "Job":
            found = self.jobs.get(pod.metadata.namespace, first.name)
        return found if found is not None and found.metadata.uid == first.uid else None


CONTROLLER = "controller"


def by_controller(found: Object) -> Iterable[str]:
    """An index of informers: under the uid of what manages it."""
    owner = found.metadata.controller
    return () if owner is None else (owner.uid,)


UNMANAGED = "unmanaged"


def by_no_controller(found: Object) -> Iterable[str]:
    """An index of informers: those that nothing manages."""
    return (UNMANAGED,) if found.metadata.controller is None else ()


NAMESPACE = "namespace"


def by_namespace(found: Object) -> Iterable[str]:
    """An index of informers."""
    return (found.metadata.namespace,)


def by_uid(found: Object) -> Iterable[str]:
    """An index of informers."""
    return (found.metadata.uid,)


def by_on_rotate(found: Object) -> Iterable[str]:
    """An index of informers."""
    wanted = found.metadata.annotations.get(names.ON_ROTATE)
    return () if wanted is None else (wanted,)


MARKED = "marked"


def by_ageing(found: Object) -> Iterable[str]:
    """An index of informers: those that bear a mark."""
    return (MARKED,) if names.AGEING in found.metadata.annotations else ()


GRADED = "graded"
_GRADES = (
    names.VICTIM_NOW,
    names.VICTIM_USUAL,
    names.VICTIM_WORST,
    names.AGGRESSOR_NOW,
    names.AGGRESSOR_USUAL,
    names.AGGRESSOR_WORST,
)


def by_grade(found: Object) -> Iterable[str]:
    """An index of informers: those that bear the grade of a neighbour."""
    labels = found.metadata.labels
    return (GRADED,) if any(label in labels for label in _GRADES) else ()


DECLARED = "declared"


def by_environment(found: Object) -> Iterable[str]:
    """An index of informers: those that declare variables."""
    annotations = found.metadata.annotations
    is_declared = any(key.startswith(names.ENVIRONMENT_PREFIX) for key in annotations)
    return (DECLARED,) if is_declared else ()


def container_name(pod: Pod, container_id: str) -> str | None:
    for several in (pod.status.container_statuses, pod.status.init_container_statuses):
        for status in several:
            # "containerd://<id>"; ours is the id as the cgroup shows it.
            if status.container_id.rpartition("/")[2] == container_id:
                return status.name
    return None
