"""Which pod, container and owner a control group belongs to, from the names that kubelet gave it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names

from nemutator_controller.cluster.owners import workload
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.store import StoreSnapshot


@dataclass(frozen=True, slots=True)
class PodOwner:
    """The workload at the top of a pod's chain of owners; the pod itself when nobody owns it."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class RunningPod:
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


class NoRunningPods:
    """The `PodLookup` of a machine that is in no cluster."""

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        return None


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """A `PodLookup` of one moment; the pods are indexed by uid."""

    pods: StoreSnapshot[Pod]
    replica_sets: StoreSnapshot[Object]
    jobs: StoreSnapshot[Object]

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        pod = self.pod(pod_uid) if pod_uid else None
        # A node may speak for its own pods only.
        if pod is None or pod.spec.node_name != node:
            return None
        return RunningPod(
            namespace=pod.metadata.namespace,
            pod=pod.metadata.name,
            uid=pod.metadata.uid,
            container=_container(pod, container_id) if container_id else None,
            owner=self.owner(pod),
        )

    def pod(self, uid: str) -> Pod | None:
        return next(iter(self.pods.by("uid", uid)), None)

    def owner(self, pod: Pod) -> PodOwner:
        """Up the chain as far as it can change with each rollout or run."""
        first = pod.metadata.controller
        if first is None:
            return PodOwner("Pod", pod.metadata.name)
        above = {"ReplicaSet": self.replica_sets, "Job": self.jobs}.get(first.kind)
        found = above.get(pod.metadata.namespace, first.name) if above is not None else None
        if found is not None and found.metadata.uid == first.uid:
            top = found.metadata.controller
            return PodOwner(first.kind, first.name) if top is None else PodOwner(top.kind, top.name)
        # It is not seen (yet), or gone: then its name has to do, as for admission.
        return PodOwner(*workload(first.kind, first.name, pod.metadata.labels))


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


DECLARED = "declared"


def by_environment(found: Object) -> Iterable[str]:
    """An index of informers: those that declare variables."""
    annotations = found.metadata.annotations
    is_declared = any(key.startswith(names.ENVIRONMENT_PREFIX) for key in annotations)
    return (DECLARED,) if is_declared else ()


def _container(pod: Pod, container_id: str) -> str | None:
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        # "containerd://<id>"; ours is the id as the cgroup shows it.
        if status.container_id.rpartition("/")[2] == container_id:
            return status.name
    return None
