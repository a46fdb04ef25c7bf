"""What each role of ours may do in Kubernetes, and nothing more: a right that is added is added here, too."""

from typing import Any

from nemutator_controller.kube import resources
from nemutator_controller.kube.resources import Resource
from nemutator_controller.scaling.objects import FORECAST_SCALERS
from nemutator_controller.updating.objects import SIZING_POLICIES

from tests.house.test_manifests import documents

READ = frozenset({"list", "watch"})
PATCHED = READ | {"get", "patch"}

MAY: dict[str, dict[str, frozenset[str]]] = {
    "nemutator-brain": {
        "pods": PATCHED,
        "namespaces": READ,
        "replicasets.apps": READ,
        "nodes": READ,
        "services": READ,
        "limitranges": READ,
        "resourcequotas": READ,
        "horizontalpodautoscalers.autoscaling": READ,
        "poddisruptionbudgets.policy": READ,
        "verticalpodautoscalers.autoscaling.k8s.io": READ,
        "pods/resize": frozenset({"patch"}),
        "pods/eviction": frozenset({"create"}),
        "deployments.apps": PATCHED,
        "statefulsets.apps": PATCHED,
        "daemonsets.apps": PATCHED,
        "jobs.batch": PATCHED,
        "cronjobs.batch": PATCHED,
        "mutationpolicies.nemutator.io": READ,
        "mutationpolicies/status.nemutator.io": frozenset({"patch"}),
        "sizingpolicies.nemutator.io": READ,
        "sizingpolicies/status.nemutator.io": frozenset({"patch"}),
        "seasonpolicies.nemutator.io": READ,
        "seasonpolicies/status.nemutator.io": frozenset({"patch"}),
        "forecastscalers.nemutator.io": READ,
        "forecastscalers/status.nemutator.io": frozenset({"patch"}),
        "nodeoversells.nemutator.io": READ,
        "nodeoversells/status.nemutator.io": frozenset({"patch"}),
        "events": frozenset({"create", "patch"}),
        "tokenreviews.authentication.k8s.io": frozenset({"create"}),
        "/.well-known/openid-configuration": frozenset({"get"}),
        "/openid/v1/jwks": frozenset({"get"}),
        "subjectaccessreviews.authorization.k8s.io": frozenset({"create"}),
        "mutatingwebhookconfigurations.admissionregistration.k8s.io": frozenset({"get", "patch"}),
    },
}


def granted(role: str) -> dict[str, frozenset[str]]:
    (found,) = (each for each in documents("ClusterRole") if each["metadata"]["name"] == role)
    rights: dict[str, frozenset[str]] = {}
    for rule in found["rules"]:
        for path in rule.get("nonResourceURLs", ()):
            rights[path] = rights.get(path, frozenset()) | set(rule["verbs"])
        for group in rule.get("apiGroups", ()):
            for resource in rule["resources"]:
                name = f"{resource}.{group}" if group else resource
                rights[name] = rights.get(name, frozenset()) | set(rule["verbs"])
    return rights


def test_each_role_may_do_what_is_listed_and_nothing_else() -> None:
    for role, rights in MAY.items():
        assert granted(role) == rights


def test_whatever_the_brain_watches_it_may_list_and_watch() -> None:
    watched: tuple[Resource[Any], ...] = (
        resources.PODS,
        resources.NAMESPACES,
        resources.REPLICA_SETS,
        *resources.WORKLOADS,
        resources.WATCHED_NODES,
        resources.SERVICES,
        resources.LIMIT_RANGES,
        resources.RESOURCE_QUOTAS,
        resources.AUTOSCALERS,
        resources.DISRUPTION_BUDGETS,
        resources.VERTICAL_AUTOSCALERS,
        SIZING_POLICIES,
        FORECAST_SCALERS,
    )
    rights = granted("nemutator-brain")
    for each in watched:
        name = f"{each.plural}.{each.group}" if each.group else each.plural
        assert rights[name] >= READ, name
