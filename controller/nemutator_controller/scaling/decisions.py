"""The minimum that a forecast asks for: never below the base, never above any bound, and the base when in doubt: pure."""

import math

from nemutator_controller.scaling.model import ScalerSpec
from nemutator_controller.scaling.records import (
    CpuGoal,
    FoundAutoscaler,
    Reason,
    WantedMinimum,
    WorkloadForecast,
)

LEAST_SKILL = 0.3
"""As seasons ask for it: held-out days were foretold so much better than by a median."""

MOST_MILLIS = 10**9
"""A million cores: whoever asks for more of one pod has mistaken a unit, and numbers stay those that floats have."""

ROUNDING = 1e-6
"""Of a replica: what arithmetic adds is no further one."""

NO_METRIC = "the autoscaler does not scale by the CPU of whole pods: what one replica is to carry is not known"
NO_REQUEST = "a container of its pods requests no CPU: what one replica is to carry is not known"


def carried_millis(goal: CpuGoal | None, request_millis: int | None) -> int | Reason:
    """What one replica is to use by the autoscaler's own goal, or why that is not known."""
    if goal is None:
        return "no_cpu_metric"
    if goal.millis is not None:
        return goal.millis if 0 < goal.millis <= MOST_MILLIS else "no_cpu_metric"
    if request_millis is None or not 0 < request_millis <= MOST_MILLIS:
        return "no_request"
    carried = request_millis * (goal.percent or 0) // 100
    return carried if 0 < carried <= MOST_MILLIS else "no_cpu_metric"


def base_of(spec: ScalerSpec, found: FoundAutoscaler) -> int:
    """The minimum without any forecast: what its owner wrote, or what the ForecastScaler asks for at least."""
    asked = min(spec.min_replicas or 0, found.maximum)
    return max(found.base, asked)


def wanted_minimum(
    spec: ScalerSpec, found: FoundAutoscaler, forecast: WorkloadForecast
) -> WantedMinimum:
    base = base_of(spec, found)
    carried = carried_millis(found.goal, found.request_millis)
    if isinstance(carried, str):
        why = NO_REQUEST if carried == "no_request" else NO_METRIC
        return WantedMinimum(replicas=base, reason=carried, why=why)
    if forecast.why_not:
        return WantedMinimum(replicas=base, reason=forecast.reason, why=forecast.why_not)
    line = forecast.upper if spec.follow == "Upper" else forecast.ahead
    if line is None or not math.isfinite(line) or line < 0 or forecast.skill is None:
        why = "there is no forecast of its CPU"
        return WantedMinimum(replicas=base, reason="no_forecast", why=why)
    if not forecast.skill >= LEAST_SKILL:
        why = (
            f"held-out days were foretold {max(0.0, forecast.skill):.0%} better than by a median,"
            f" {LEAST_SKILL:.0%} are needed"
        )
        return WantedMinimum(replicas=base, reason="low_skill", why=why)
    cores = line * (100 + spec.margin_percent) / 100
    needed = math.ceil(min(cores * 1_000 / carried, 1e9) - ROUNDING)
    most = found.maximum if spec.max_replicas is None else min(found.maximum, spec.max_replicas)
    replicas = max(base, min(needed, most))
    said = (
        f"up to {cores:.2f} cores are expected within {_spoken(forecast.lead_s or 0)}, of which a replica is to"
        f" carry {carried / 1_000:g}: {needed}"
    )
    if needed <= base:
        return WantedMinimum(replicas=base, reason="base", why=f"{said}, and the base is {base}")
    if replicas < needed:
        said += f", and {replicas} is the most that is allowed"
    return WantedMinimum(replicas=replicas, reason="forecast", why=said)


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
