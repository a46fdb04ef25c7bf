"""Which resources of Kubernetes we use, and where the API server serves them."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import quote

from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.objects import (
    LimitRange,
    Node,
    Object,
    Pod,
    ResourceQuota,
    RuntimeClass,
)
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    DisruptionBudget,
    VerticalAutoscaler,
    WatchedWorkload,
)

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One resource and the shape that we read of it; `Object` itself reads metadata only."""

    group: str
    version: str
    plural: str
    kind: str
    shape: type[T]
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def metadata_only(self) -> bool:
        return self.shape is Object

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Its path at the server; without *namespace*, that of all namespaces."""
        parts = ["apis" if self.group else "api", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/" + "/".join(parts)


PODS: Final = Resource("", "v1", "pods", "Pod", Pod)
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", Object, namespaced=False)
EVENTS: Final = Resource("", "v1", "events", "Event", Object)
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment", WatchedWorkload)
STATEFUL_SETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet", WatchedWorkload)
DAEMON_SETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet", WatchedWorkload)
# A cluster keeps ten old ReplicaSets for each Deployment; only who owns them is of use.
REPLICA_SETS: Final = Resource("apps", "v1", "replicasets", "ReplicaSet", Object)
JOBS: Final = Resource("batch", "v1", "jobs", "Job", WatchedWorkload)
CRON_JOBS: Final = Resource("batch", "v1", "cronjobs", "CronJob", WatchedWorkload)
WORKLOADS: Final = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS)
RUNTIME_CLASSES: Final = Resource(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", RuntimeClass, namespaced=False
)
LIMIT_RANGES: Final = Resource("", "v1", "limitranges", "LimitRange", LimitRange)
RESOURCE_QUOTAS: Final = Resource("", "v1", "resourcequotas", "ResourceQuota", ResourceQuota)
NODES: Final = Resource("", "v1", "nodes", "Node", Node, namespaced=False)
# Admission keeps less of nodes than the brain does.
WATCHED_NODES: Final = Resource("", "v1", "nodes", "Node", WatchedNode, namespaced=False)
SERVICES: Final = Resource("", "v1", "services", "Service", Service)
AUTOSCALERS: Final = Resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", Autoscaler
)
DISRUPTION_BUDGETS: Final = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", DisruptionBudget
)
VERTICAL_AUTOSCALERS: Final = Resource(
    "autoscaling.k8s.io",
    "v1",
    "verticalpodautoscalers",
    "VerticalPodAutoscaler",
    VerticalAutoscaler,
)
MUTATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    Object,
    namespaced=False,
)
TOKEN_REVIEWS: Final = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", "TokenReview", Object, namespaced=False
)
SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io",
    "v1",
    "subjectaccessreviews",
    "SubjectAccessReview",
    Object,
    namespaced=False,
)
