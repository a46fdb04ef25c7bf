"""What we read of workloads, and of the objects that scale and protect them."""

from collections.abc import Mapping

import msgspec

from nemutator_controller.kube.objects import (
    NO_RESOURCES,
    Container,
    Object,
    Resources,
    Shape,
)
from nemutator_controller.kube.runtime_flags import runtime_flags
from nemutator_controller.kube.shared_values import no_texts, set_field, shared, shared_texts


class TemplateVariable(Shape, frozen=True, gc=False):
    name: str = ""
    value: str = ""


class TemplateContainer(Container, frozen=True, gc=False):
    """As it is decoded: what it is started with is read for a few words alone, and not kept."""

    env: tuple[TemplateVariable, ...] = ()
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()

    @property
    def runtime(self) -> tuple[str, ...]:
        pairs = ((each.name, each.value) for each in self.env)
        return runtime_flags(pairs, (*self.command, *self.args))

    def plain(self) -> Container:
        return Container(
            name=self.name,
            image=self.image,
            resources=self.resources,
            restart_policy=self.restart_policy,
        )


class TemplatePodSpec(Shape, frozen=True, gc=False):
    """A pod's spec, before there is a pod."""

    containers: tuple[Container, ...] = msgspec.field(default=(), name="#containers")
    started: tuple[TemplateContainer, ...] = msgspec.field(default=(), name="containers")
    """They become those above, and what follows."""
    runtime: tuple[tuple[str, tuple[str, ...]], ...] = msgspec.field(default=(), name="#runtime")
    """By name of the container, how much of a machine its language may take, as `runtime_flags` finds it."""
    init_containers: tuple[Container, ...] = ()
    overhead: Mapping[str, str] = msgspec.field(default_factory=no_texts)
    resources: Resources = NO_RESOURCES

    def __post_init__(self) -> None:
        if self.started:
            flags = ((each.name, each.runtime) for each in self.started)
            set_field(self, "runtime", shared(tuple(pair for pair in flags if pair[1])))
            set_field(self, "containers", tuple(each.plain() for each in self.started))
            set_field(self, "started", ())
        # Its pods have the very same.
        set_field(self, "containers", shared(self.containers))
        if self.init_containers:
            set_field(self, "init_containers", shared(self.init_containers))


class TemplateMetadata(Shape, frozen=True, gc=False):
    labels: Mapping[str, str] = msgspec.field(default_factory=no_texts)

    def __post_init__(self) -> None:
        if self.labels:
            set_field(self, "labels", shared_texts(self.labels))


class PodTemplate(Shape, frozen=True, gc=False):
    metadata: TemplateMetadata = TemplateMetadata()
    spec: TemplatePodSpec = TemplatePodSpec()


class JobSpec(Shape, frozen=True, gc=False):
    template: PodTemplate = PodTemplate()
    parallelism: int | None = None


class JobTemplate(Shape, frozen=True, gc=False):
    spec: JobSpec = JobSpec()


class Strategy(Shape, frozen=True, gc=False):
    type: str = ""

    def __post_init__(self) -> None:
        set_field(self, "type", shared(self.type))


class SelectorRequirement(Shape, frozen=True, gc=False):
    key: str
    operator: str
    values: tuple[str, ...] | None = None


class WorkloadSelector(Shape, frozen=True, gc=False):
    match_expressions: tuple[SelectorRequirement, ...] | None = None

    @property
    def unwanted(self) -> tuple[str, ...]:
        """Keys of labels that it wants pods without, or without some of their values."""
        listed = self.match_expressions or ()
        return tuple(each.key for each in listed if each.operator in ("DoesNotExist", "NotIn"))


class WorkloadSpec(Shape, frozen=True, gc=False):
    """Of a Deployment, StatefulSet, DaemonSet, Job or CronJob; each has some of these fields."""

    selector: WorkloadSelector | None = None
    """As it is decoded; of it no more is kept than what follows."""
    unwanted_labels: tuple[str, ...] = msgspec.field(default=(), name="#unwantedLabels")
    template: PodTemplate = PodTemplate()
    replicas: int | None = None
    strategy: Strategy = Strategy()
    update_strategy: Strategy = Strategy()
    """What a Deployment calls its strategy, in the others."""
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool = False
    paused: bool = False
    schedule: str = ""
    job_template: JobTemplate = JobTemplate()

    def __post_init__(self) -> None:
        if self.selector is not None:
            if unwanted := self.selector.unwanted:
                set_field(self, "unwanted_labels", unwanted)
            set_field(self, "selector", None)


class WorkloadStatus(Shape, frozen=True, gc=False):
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    updated_replicas: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    active: int | tuple[msgspec.Raw, ...] = 0
    """The number of pods that a Job has; of a CronJob, references to the Jobs that run."""
    ready: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.active, tuple):
            set_field(self, "active", len(self.active))


class WatchedWorkload(Object, frozen=True, gc=False):
    """A Deployment, StatefulSet, DaemonSet, Job or CronJob."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class TargetRef(Shape, frozen=True, gc=False):
    """The workload that an autoscaler is for."""

    kind: str = ""
    name: str = ""


class NamedMetric(Shape, frozen=True, gc=False):
    name: str = ""


class MetricTarget(Shape, frozen=True, gc=False):
    type: str = ""
    average_utilization: int | None = None
    """Percent of what pods request."""
    average_value: str = ""


class ResourceMetric(NamedMetric, frozen=True, gc=False):
    target: MetricTarget = MetricTarget()


class ScalingMetric(Shape, frozen=True, gc=False):
    type: str = ""
    resource: ResourceMetric = ResourceMetric()
    container_resource: NamedMetric = NamedMetric()


class AutoscalerSpec(Shape, frozen=True, gc=False):
    scale_target_ref: TargetRef = TargetRef()
    min_replicas: int | None = None
    max_replicas: int = 0
    metrics: tuple[ScalingMetric, ...] | None = None


class AutoscalerStatus(Shape, frozen=True, gc=False):
    current_replicas: int = 0
    desired_replicas: int = 0


class Autoscaler(Object, frozen=True, gc=False):
    """A HorizontalPodAutoscaler."""

    spec: AutoscalerSpec = AutoscalerSpec()
    status: AutoscalerStatus = AutoscalerStatus()


class UpdatePolicy(Shape, frozen=True, gc=False):
    update_mode: str = "Auto"


class VerticalAutoscalerSpec(Shape, frozen=True, gc=False):
    target_ref: TargetRef = TargetRef()
    update_policy: UpdatePolicy | None = None


class VerticalAutoscaler(Object, frozen=True, gc=False):
    """A VerticalPodAutoscaler, where its CustomResourceDefinition is installed."""

    spec: VerticalAutoscalerSpec = VerticalAutoscalerSpec()


class BudgetSelector(Shape, frozen=True, gc=False):
    match_labels: Mapping[str, str] | None = None
    match_expressions: tuple[SelectorRequirement, ...] | None = None

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether it selects what has *labels*; an empty one selects everything."""
        if any(labels.get(key) != value for key, value in (self.match_labels or {}).items()):
            return False
        return all(_meets(each, labels) for each in self.match_expressions or ())


class DisruptionBudgetSpec(Shape, frozen=True, gc=False):
    selector: BudgetSelector | None = None
    """Without one it selects nothing."""
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class DisruptionBudgetStatus(Shape, frozen=True, gc=False):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0


class DisruptionBudget(Object, frozen=True, gc=False):
    """A PodDisruptionBudget."""

    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()


def _meets(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in (requirement.values or ())
        case "NotIn":
            return value not in (requirement.values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            # The API server takes no other.
            return False
