"""The autoscalers of a cluster, with what ForecastScalers ask of them and write on them."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from nemutator_common import names

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.inventory.amounts import cpu_memory
from nemutator_controller.inventory.model import ClusterFigures, WorkloadFigures
from nemutator_controller.inventory.taking import CountedCluster, NotListedYetError
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import (
    ConflictError,
    InvalidError,
    KubeError,
    NotFoundError,
)
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.objects import Container
from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.kube.resources import AUTOSCALERS
from nemutator_controller.kube.workload_objects import Autoscaler, ScalingMetric
from nemutator_controller.kube.writing import OnlyIf
from nemutator_controller.scaling.records import (
    CpuGoal,
    FoundAutoscaler,
    NotScaledWorkloadError,
    ScalerKey,
    SpareCpu,
    Workload,
)

DEFAULT_PERCENT = 80
"""Of an autoscaler that names no metric."""


@dataclass(frozen=True, slots=True)
class ClusterAutoscalers:
    """The `ScaledAutoscalers`."""

    cluster: Cluster
    counted: CountedCluster

    async def now(
        self, wanted: Collection[ScalerKey]
    ) -> Mapping[ScalerKey, FoundAutoscaler] | None:
        try:
            all_ = self.cluster.objects.autoscalers.snapshot().objects
            chosen = {
                (one.metadata.namespace, one.metadata.name): one
                for one in all_.values()
                if not one.metadata.deletion_timestamp
                and (
                    (one.metadata.namespace, one.metadata.name) in wanted
                    or str(names.RAISED_MINIMUM) in one.metadata.annotations
                )
            }
            # Where there are none the cluster is not counted.
            figures = await self.counted.now() if chosen else ClusterFigures(taken_at=0.0)
        except (NotSyncedError, NotListedYetError):
            return None
        return {key: found_autoscaler(one, figures) for key, one in chosen.items()}

    async def raise_to(self, one: FoundAutoscaler, minimum: int, annotation: str) -> None:
        wanted = {
            "metadata": {"annotations": {str(names.RAISED_MINIMUM): annotation}},
            "spec": {"minReplicas": minimum},
        }
        try:
            await self.cluster.writer.apply(
                AUTOSCALERS,
                one.namespace,
                one.name,
                wanted,
                only_if=OnlyIf(uid=one.uid, resource_version=one.version),
                # Whoever has it now has written the base, which is kept.
                force=True,
            )
        except (NotFoundError, ConflictError):
            return
        except (KubeError, OverBudgetError) as error:
            raise NotScaledWorkloadError(str(error)) from error

    async def give_back(self, one: FoundAutoscaler, base: int) -> None:
        patch = {
            "metadata": {"annotations": {str(names.RAISED_MINIMUM): None}},
            "spec": {"minReplicas": base},
        }
        only_if = OnlyIf(uid=one.uid, resource_version=one.version)
        try:
            body = await self.cluster.writer.merge_patch(
                AUTOSCALERS, one.namespace, one.name, patch, only_if=only_if
            )
        except (NotFoundError, ConflictError):
            return
        except (KubeError, OverBudgetError) as error:
            raise NotScaledWorkloadError(str(error)) from error
        # Else whoever applies another minimum meets a conflict with us, who want none any more. It stands without that.
        with contextlib.suppress(KubeError, OverBudgetError):
            await self._disown(one, body)

    async def _disown(self, one: FoundAutoscaler, body: bytes) -> None:
        """Own no field of what *body* shows."""
        metadata: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])["metadata"]
        owners = metadata.get("managedFields", [])
        mine = [number for number, each in enumerate(owners) if each.get("manager") == names.PREFIX]
        # Of an object that nobody else has written the server would keep all owners as they are.
        if not mine or len(mine) == len(owners):
            return
        only_if = OnlyIf(uid=one.uid, resource_version=str(metadata["resourceVersion"]))
        operations = [
            {"op": "remove", "path": f"/metadata/managedFields/{number}"}
            for number in reversed(mine)
        ]
        with contextlib.suppress(InvalidError):
            await self.cluster.writer.json_patch(
                AUTOSCALERS, one.namespace, one.name, operations, only_if=only_if
            )

    def notify(self, one: FoundAutoscaler, note: str, *, warning: bool = False) -> None:
        where = (AUTOSCALERS.api_version, AUTOSCALERS.kind, one.namespace, one.name, one.uid)
        news = News(*where, "ForecastScaler", note, "Warning" if warning else "Normal")
        self.cluster.announcer.announce(news)


def found_autoscaler(one: Autoscaler, figures: ClusterFigures) -> FoundAutoscaler:
    meta, spec = one.metadata, one.spec
    target = spec.scale_target_ref
    workload = Workload((meta.namespace, target.kind, target.name))
    known = figures.workloads.get(workload)
    return FoundAutoscaler(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        version=meta.resource_version,
        # An absent one is 1.
        minimum=1 if spec.min_replicas is None else spec.min_replicas,
        maximum=spec.max_replicas,
        workload=workload,
        goal=cpu_goal(spec.metrics),
        request_millis=None if known is None else requested_by_one(known),
        pods=0 if known is None else known.tally.pods,
        requested_millis=0 if known is None else known.tally.requests.cpu_millis,
        annotation=meta.annotations.get(str(names.RAISED_MINIMUM), ""),
    )


def cpu_goal(metrics: tuple[ScalingMetric, ...] | None) -> CpuGoal | None:
    if not metrics:
        return CpuGoal(percent=DEFAULT_PERCENT)
    for metric in metrics:
        if metric.type != "Resource" or metric.resource.name != "cpu":
            continue
        target = metric.resource.target
        if target.average_utilization is not None:
            return CpuGoal(percent=target.average_utilization)
        with contextlib.suppress(QuantityError):
            return CpuGoal(millis=parse_quantity(target.average_value).to_millis())
    return None


def requested_by_one(known: WorkloadFigures) -> int | None:
    """By its newest pods, or where there are none by its template; autoscalers count no pod in which a container requests
    nothing."""
    whole: Mapping[str, str] = {}
    containers: tuple[Container, ...] = ()
    if known.pods:
        spec = max(known.pods, key=lambda one: one.pod.metadata.creation_timestamp).pod.spec
        whole, containers = spec.resources.requests, spec.containers
    elif known.workload is not None:
        template = known.workload.spec.template.spec
        whole, containers = template.resources.requests, template.containers
    if "cpu" in whole:
        return cpu_memory(whole).cpu_millis or None
    amounts = [cpu_memory(each.resources.requests).cpu_millis for each in containers]
    return sum(amounts) if amounts and all(amounts) else None


@dataclass(frozen=True, slots=True)
class SpareOfCluster:
    """The `SpareCpuOfCluster`: of nodes that are ready and take pods."""

    counted: CountedCluster
    foreseen: Callable[[], int | None]
    """Millis that all are expected to use within the lead."""

    async def now(self) -> SpareCpu | None:
        try:
            figures = await self.counted.now()
        except NotListedYetError:
            return None
        if "nodes" in figures.objects.unlisted:
            return None
        taking = [
            one
            for one in figures.nodes.values()
            if one.node is not None and one.is_ready and not one.node.spec.unschedulable
        ]
        here = sum(one.tally.requests.cpu_millis for one in taking)
        # Pods that wait for a node take some of it as soon as they have one; those of other nodes take nothing of these.
        waiting = await asyncio.to_thread(_waiting_millis, figures)
        return SpareCpu(
            allocatable=sum(one.raw_cpu_millis for one in taking),
            requested=here + waiting,
            foreseen=self.foreseen(),
        )


def _waiting_millis(figures: ClusterFigures) -> int:
    """What pods without a node request. It goes through all pods."""
    return sum(
        demand.requests.cpu_millis
        for known in figures.workloads.values()
        for pod, demand in zip(known.pods.pods, known.pods.demands, strict=True)
        if not pod.spec.node_name
    )
