"""What is known of an autoscaler, a forecast, and what came of both: data only."""

from dataclasses import dataclass
from typing import Literal, NewType

from nemutator_controller.scaling.marks import RaisedMark, mark_of

ScalerKey = tuple[str, str]
"""Namespace and name, of a ForecastScaler or of an autoscaler."""

Workload = NewType("Workload", tuple[str, str, str])
"""Namespace, kind and name."""

Reason = Literal[
    "forecast",
    "base",
    "preview",
    "low_skill",
    "no_forecast",
    "stale",
    "surprise",
    "settling",
    "guard",
    "no_cpu_metric",
    "no_request",
    "no_autoscaler",
    "another_scaler",
    "most_raised",
    "taken_back",
    "disputed",
    "refused",
    "store",
    "faulty",
]
"""Why the minimum is what it is; the metrics have them as a label."""

REASONS: tuple[Reason, ...] = Reason.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuGoal:
    """The CPU that an autoscaler wants each pod to use; one of the two is given."""

    percent: int | None = None
    """Of what a pod requests."""
    millis: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAutoscaler:
    """As the watch has it, with its workload."""

    namespace: str
    name: str
    uid: str
    version: str
    minimum: int
    maximum: int
    workload: Workload
    goal: CpuGoal | None
    """None: it does not scale by the CPU of whole pods."""
    request_millis: int | None
    """Of one pod of the workload; None: a container of it requests none, or there is no pod and no template."""
    pods: int = 0
    """That the workload has now."""
    requested_millis: int = 0
    """By all of them together."""
    annotation: str = ""

    @property
    def key(self) -> ScalerKey:
        return self.namespace, self.name

    @property
    def mark(self) -> RaisedMark | None:
        """Ours, if the minimum is the one that we have written on this very object."""
        found = mark_of(self.annotation)
        if found is None or found.uid != self.uid or found.raised != self.minimum:
            return None
        return found

    @property
    def base(self) -> int:
        """The minimum that its owner wrote."""
        mark = self.mark
        return self.minimum if mark is None else mark.base


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadForecast:
    """The CPU of a workload, in cores. Without *why_not* all of it is known."""

    now: float | None = None
    ahead: float | None = None
    """The most that is expected within the lead."""
    upper: float | None = None
    """The upper end of its interval there."""
    lead_s: float | None = None
    skill: float | None = None
    is_surprised: bool = False
    """Whether more is used than was foreseen."""
    reason: Reason = "forecast"
    why_not: str = ""
    """Why it is not to be followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedMinimum:
    replicas: int
    reason: Reason
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerState:
    """What the last look at one ForecastScaler has found; it is what people see."""

    namespace: str
    name: str
    target: str
    mode: str
    reason: Reason
    why: str
    workload: Workload | None = None
    base: int | None = None
    wanted: int | None = None
    minimum: int | None = None
    """What the autoscaler has now."""
    is_raised: bool = False
    opportunistic: int | None = None
    forecast: WorkloadForecast = WorkloadForecast(reason="no_forecast", why_not="not asked")

    @property
    def key(self) -> ScalerKey:
        return self.namespace, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SpareCpu:
    """Of the cluster, in millis."""

    allocatable: int
    requested: int
    """By all pods that have a node or wait for one."""
    foreseen: int | None = None
    """The upper end of the forecast of what all of them use within the lead; None: nobody can tell."""


class NotScaledWorkloadError(Exception):
    """The autoscaler could not be written to."""
