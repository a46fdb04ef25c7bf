"""What access, windows, images and the journal ask of a watched cluster in their ports."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

from nemutator_common.names import ENVIRONMENT_PREFIX, MUTATION

from nemutator_controller.access.signed_tokens import BoundPod
from nemutator_controller.app.pod_changes import changes_of_pods
from nemutator_controller.cluster.pods import DECLARED
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.journal.records import StampedPod
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.windows.choice import DeclaredPod


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
class StampedPodChanges:
    """The `StampedPods` of the journal."""

    watch: ClusterWatch

    async def changes(self) -> AsyncIterator[StampedPod]:
        async for pod in changes_of_pods(self.watch, "journal"):
            meta = pod.metadata
            if (stamp := meta.annotations.get(MUTATION)) is not None:
                yield StampedPod(pod_subject(meta.namespace, meta.name, meta.uid), stamp)
