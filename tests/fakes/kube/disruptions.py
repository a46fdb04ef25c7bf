"""What a PodDisruptionBudget says about one eviction, in the eviction registry's own words."""

from typing import Any

from tests.fakes.kube import kinds
from tests.fakes.kube.statuses import ApiError, unexplained
from tests.fakes.kube.store import Store

Json = dict[str, Any]


def budget_for(store: Store, pod: Json) -> Json | None:
    labels = pod["metadata"].get("labels") or {}
    budgets = [
        budget
        for budget in store.all(kinds.DISRUPTION_BUDGETS)
        if budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and (budget["spec"].get("selector") or {}).get("matchLabels", {}).items() <= labels.items()
    ]
    if len(budgets) > 1:
        raise unexplained(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does"
            " not support."
        )
    return budgets[0] if budgets else None


def spend(budget: Json) -> Json:
    """*budget* with one disruption less, or 429."""
    status, name = budget.get("status") or {}, budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _over_budget(why, retry_after_s=10)
    if status.get("disruptionsAllowed", 0) <= 0:
        raise _over_budget(
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods"
            f" and has {status.get('currentHealthy', 0)} currently"
        )
    return {**budget, "status": {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1}}


def _over_budget(why: str, retry_after_s: int = 0) -> ApiError:
    details: Json = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if retry_after_s:
        details["retryAfterSeconds"] = retry_after_s
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, "TooManyRequests", message, details=details)
