"""What people see of ForecastScalers, as JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from nemutator_controller.scaling.records import ScalerKey, ScalerState

MOST_ITEMS = 1_000


def scaler_list(
    states: Iterable[ScalerState],
    faulty: Mapping[ScalerKey, str],
    opportunistic: Mapping[ScalerKey, int],
    namespace: str | None,
) -> tuple[list[dict[str, Any]], int]:
    """Those of *namespace*, and how many of them have no room here."""
    items = [
        scaler_item(one, opportunistic.get(one.key))
        for one in states
        if namespace in (None, one.namespace)
    ]
    items += [faulty_item(key, why) for key, why in faulty.items() if namespace in (None, key[0])]
    items.sort(key=lambda one: (one["namespace"], one["name"]))
    return items[:MOST_ITEMS], max(0, len(items) - MOST_ITEMS)


def scaler_item(state: ScalerState, opportunistic: int | None) -> dict[str, Any]:
    told = state.forecast
    workload = state.workload
    return {
        "key": "/".join(state.key),
        "namespace": state.namespace,
        "name": state.name,
        "target": state.target,
        "workload": "" if workload is None else f"{workload[1]}/{workload[2]}",
        "mode": state.mode,
        "base": state.base,
        "wanted": state.wanted,
        "minimum": state.minimum,
        "is_raised": state.is_raised,
        "opportunistic": opportunistic,
        "now_cores": _rounded(told.now),
        "ahead_cores": _rounded(told.ahead),
        "upper_cores": _rounded(told.upper),
        "lead_s": told.lead_s,
        "skill": _rounded(told.skill),
        "reason": state.reason,
        "why": state.why,
    }


def faulty_item(key: ScalerKey, why: str) -> dict[str, Any]:
    namespace, name = key
    state = ScalerState(
        namespace=namespace, name=name, target="", mode="", reason="faulty", why=why
    )
    return scaler_item(state, None)


def _rounded(number: float | None) -> float | None:
    return None if number is None or not -1e300 < number < 1e300 else round(number, 4)
