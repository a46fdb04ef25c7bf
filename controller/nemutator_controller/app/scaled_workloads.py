"""What one watched cluster says of sized workloads: who scales or sizes them as well, and how they are started."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    TemplatePodSpec,
    VerticalAutoscaler,
    WatchedWorkload,
)
from nemutator_controller.sizing.keys import ContainerKey, Workload
from nemutator_controller.sizing.similar import repository

FOLLOWED = "a HorizontalPodAutoscaler follows it"
SIZED = "the VerticalPodAutoscaler {} sizes it"


@dataclass(frozen=True, slots=True)
class ScaledWorkloads:
    """The `SizedElsewhere`."""

    cluster: Cluster

    def now(self) -> Mapping[Workload, Mapping[str, str]]:
        objects = self.cluster.objects.snapshot()
        found: dict[Workload, dict[str, str]] = {}
        for scaler in objects.autoscalers.values():
            target = scaler.spec.scale_target_ref
            key = (scaler.metadata.namespace, target.kind, target.name)
            for resource in followed(scaler):
                if resource in ("cpu", "memory"):
                    found.setdefault(key, {})[resource] = FOLLOWED
        for sizer in objects.vertical_autoscalers.values():
            target = sizer.spec.target_ref
            if gives(sizer):
                why = SIZED.format(sizer.metadata.name)
                key = (sizer.metadata.namespace, target.kind, target.name)
                found.setdefault(key, {}).update(cpu=why, memory=why)
        return found


@dataclass(frozen=True, slots=True)
class FlagsOfTemplates:
    """The `RuntimeFlags` of a cluster."""

    cluster: Cluster

    def of_each(self, keys: Sequence[ContainerKey]) -> list[tuple[str, ...]]:
        workloads = self.cluster.objects.snapshot().workloads
        return [_flags(workloads.get(key.owner_kind, {}), key) for key in keys]


@dataclass(frozen=True, slots=True)
class ImagesOfTemplates:
    """The `TemplateImages` of a cluster."""

    cluster: Cluster

    def of_each(self, keys: Sequence[ContainerKey]) -> list[str]:
        workloads = self.cluster.objects.snapshot().workloads
        return [_image(workloads.get(key.owner_kind, {}), key) for key in keys]


def _image(workloads: Mapping[str, WatchedWorkload], key: ContainerKey) -> str:
    found = _template(workloads, key)
    containers = () if found is None else (*found.containers, *found.init_containers)
    return next((repository(one.image) for one in containers if one.name == key.container), "")


def _flags(workloads: Mapping[str, WatchedWorkload], key: ContainerKey) -> tuple[str, ...]:
    found = _template(workloads, key)
    return () if found is None else dict(found.runtime).get(key.container, ())


def _template(
    workloads: Mapping[str, WatchedWorkload], key: ContainerKey
) -> TemplatePodSpec | None:
    found = workloads.get(f"{key.namespace}/{key.owner}")
    if found is None:
        return None
    is_cron = key.owner_kind == "CronJob"
    return (found.spec.job_template.spec.template if is_cron else found.spec.template).spec


def followed(autoscaler: Autoscaler) -> Iterator[str]:
    """Resources that it scales by."""
    if autoscaler.spec.metrics is None:
        # The API server's default.
        yield "cpu"
    for metric in autoscaler.spec.metrics or ():
        yield metric.resource.name or metric.container_resource.name


def gives(autoscaler: VerticalAutoscaler) -> bool:
    policy = autoscaler.spec.update_policy
    return policy is None or policy.update_mode != "Off"
