"""Where an API server has the objects that are installed, and how kubectl names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PLURALS: Mapping[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Namespace"): ("namespaces", False),
    ("v1", "Node"): ("nodes", False),
    ("v1", "ConfigMap"): ("configmaps", True),
    ("v1", "Service"): ("services", True),
    ("v1", "ServiceAccount"): ("serviceaccounts", True),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): ("customresourcedefinitions", False),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): ("clusterroles", False),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): ("clusterrolebindings", False),
    ("rbac.authorization.k8s.io/v1", "Role"): ("roles", True),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): ("rolebindings", True),
    ("networking.k8s.io/v1", "NetworkPolicy"): ("networkpolicies", True),
    ("policy/v1", "PodDisruptionBudget"): ("poddisruptionbudgets", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
    ("apps/v1", "Deployment"): ("deployments", True),
    ("apps/v1", "DaemonSet"): ("daemonsets", True),
    ("apps/v1", "StatefulSet"): ("statefulsets", True),
    ("storage.k8s.io/v1", "CSIDriver"): ("csidrivers", False),
    ("scheduling.k8s.io/v1", "PriorityClass"): ("priorityclasses", False),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): (
        "mutatingwebhookconfigurations",
        False,
    ),
    ("monitoring.coreos.com/v1", "PodMonitor"): ("podmonitors", True),
    ("monitoring.coreos.com/v1", "PrometheusRule"): ("prometheusrules", True),
}
"""By apiVersion and kind: the plural, and whether it lies in a namespace. tests/house holds the manifests
against it."""


class FieldConflictError(Exception):
    """Somebody else has set a field to another value; says who and which."""


class KindUnknownError(Exception):
    """The API server has no such kind, or no such namespace."""


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    api_version: str
    kind: str
    name: str
    namespace: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ObjectPlace":
        metadata = document["metadata"]
        return cls(
            document["apiVersion"],
            document["kind"],
            metadata["name"],
            metadata.get("namespace", ""),
        )

    @property
    def path(self) -> str:
        plural, has_namespace = PLURALS[self.api_version, self.kind]
        root = (
            f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        )
        within = f"/namespaces/{self.namespace}" if has_namespace else ""
        return f"{root}{within}/{plural}/{self.name}"

    def __str__(self) -> str:
        group = self.api_version.partition("/")[0] if "/" in self.api_version else ""
        kind = self.kind.lower()
        return f"{kind}.{group}/{self.name}" if group else f"{kind}/{self.name}"
