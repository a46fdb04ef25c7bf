"""What profiles ask of a watched cluster in their ports: pods by name, wishes on pods, results."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from nemutator_common.names import PROFILE, PROFILE_RESULT

from nemutator_controller.app.pod_changes import changes_of_pods
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.profiles.records import (
    AnnotatedPod,
    KnownPod,
    PodRef,
    ResultUnwrittenError,
)


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
class PodsThatAsk:
    """The `AnnotatedPods` of profiles."""

    watch: ClusterWatch

    async def changes(self) -> AsyncIterator[AnnotatedPod]:
        async for pod in changes_of_pods(self.watch, "profiles"):
            annotations = pod.metadata.annotations
            if (wanted := annotations.get(PROFILE)) is not None:
                result = annotations.get(PROFILE_RESULT)
                owner = _owner(self.watch, pod)
                yield AnnotatedPod(_ref(pod), pod.spec.node_name, wanted, result, owner)


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


def _ref(pod: Pod) -> PodRef:
    return PodRef(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid)


def _owner(watch: ClusterWatch, pod: Pod) -> str:
    """What owns *pod*, as `namespace/name`; empty while that is not known."""
    snapshot = watch.snapshot()
    return "" if snapshot is None else f"{pod.metadata.namespace}/{snapshot.owner(pod).name}"
