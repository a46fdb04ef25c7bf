"""What ageing asks of a watched cluster in its ports: owners of windows, news and marks on pods."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from nemutator_common.names import AGEING

from nemutator_controller.ageing.marks import NotMarkedError
from nemutator_controller.ageing.model import AgedWorkload, AgeingFinding, WindowSource
from nemutator_controller.ageing.owners import ByGroup
from nemutator_controller.app.profile_adapters import NamedPods
from nemutator_controller.cluster.pods import MARKED
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import OnlyIf, Writer


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
