"""The status of a ForecastScaler that `kubectl get` shows, and whether it is out of date: pure."""

from datetime import UTC, datetime

from nemutator_controller.policies.objects import READY, PolicyCondition
from nemutator_controller.scaling.crds import LONGEST_WHY
from nemutator_controller.scaling.objects import ForecastScalerObject, ForecastTexts, ScalerStatus
from nemutator_controller.scaling.records import ScalerState

RAISED = "Raised"
LONGEST = 4096


def due_status(
    object_: ForecastScalerObject,
    state: ScalerState | None,
    fault: str | None,
    opportunistic: int | None,
    *,
    now: float,
) -> ScalerStatus | None:
    """What its status is to be; None: it is."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = ("True", "Sound", "") if fault is None else ("False", "Faulty", fault)
    conditions = [_condition(object_, READY, ready, moment)]
    if fault is not None or state is None:
        if fault is None:
            # It was not looked at yet: what stands there stays.
            return None
        wanted = ScalerStatus(conditions=tuple(conditions))
        return None if wanted == object_.status else wanted
    raised = ("True" if state.is_raised else "False", _camel(state.reason), state.why)
    conditions.append(_condition(object_, RAISED, raised, moment))
    told = state.forecast
    wanted = ScalerStatus(
        conditions=tuple(conditions),
        base=state.base,
        wanted=state.wanted,
        minimum=state.minimum,
        opportunistic=opportunistic,
        lead_seconds=None if told.lead_s is None else round(told.lead_s),
        skill_percent=None if told.skill is None else round(max(-1.0, told.skill) * 100),
        forecast=ForecastTexts(_cores(told.now), _cores(told.ahead), _cores(told.upper)),
        why=state.why[:LONGEST_WHY],
    )
    return None if wanted == object_.status else wanted


def _condition(
    object_: ForecastScalerObject, type_: str, said: tuple[str, str, str], moment: str
) -> PolicyCondition:
    status, reason, message = said
    before = next((one for one in object_.status.conditions if one.type == type_), None)
    same = before is not None and before.status == status and before.last_transition_time
    return PolicyCondition(
        type=type_,
        status=status,
        reason=reason,
        message=message[:LONGEST],
        observed_generation=object_.metadata.generation,
        # The time of the last change, not of the last look.
        last_transition_time=same or moment,
    )


def _camel(reason: str) -> str:
    return "".join(word.capitalize() for word in reason.split("_"))


def _cores(cores: float | None) -> str:
    """With two digits that count: what follows each small change would be written all day."""
    if cores is None or not 0 <= cores < 1e9:
        return ""
    millis = round(cores * 1_000)
    step = 10 ** max(0, len(str(millis)) - 2)
    return f"{round(millis / step) * step}m"
