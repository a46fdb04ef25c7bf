"""The kinds that the fake serves, and those that a CustomResourceDefinition adds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    status: bool = True
    """Whether `/status` is separate: then spec and status each ignore writes to the other."""
    generation: bool = False
    """Whether metadata.generation counts the changes outside metadata and status."""
    create_only: bool = False
    """A question in the shape of an object (TokenReview): answered, never stored."""
    custom: bool = False
    """From a CustomResourceDefinition."""
    registers: bool = False
    """A configuration of webhooks."""
    unconditional: bool = True
    """Whether an update may leave out which version it is of."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """As messages name it: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified(self) -> str:
        """As messages about validity name it: `Deployment.apps`."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    def discovery(self) -> list[dict[str, Any]]:
        """Its entries in an APIResourceList."""
        own: dict[str, Any] = {
            "name": self.plural,
            "singularName": self.kind.lower(),
            "namespaced": self.namespaced,
            "kind": self.kind,
            "verbs": ["create"] if self.create_only else list(VERBS),
        }
        if self.status and not self.create_only:
            below = {**own, "name": f"{self.plural}/status", "verbs": ["get", "patch", "update"]}
            return [own, below]
        return [own]


def _core(kind: str, plural: str, **more: Any) -> Kind:
    return Kind(group="", version="v1", kind=kind, plural=plural, **more)


def _apps(kind: str, plural: str) -> Kind:
    return Kind(group="apps", version="v1", kind=kind, plural=plural, generation=True)


def _webhooks(kind: str, plural: str) -> Kind:
    return Kind(
        group="admissionregistration.k8s.io",
        version="v1",
        kind=kind,
        plural=plural,
        namespaced=False,
        status=False,
        generation=True,
        registers=True,
        unconditional=False,
    )


NAMESPACES = _core("Namespace", "namespaces", namespaced=False)
PODS = _core("Pod", "pods", generation=True)
NODES = _core("Node", "nodes", namespaced=False)
EVENTS = _core("Event", "events", status=False)
SERVICE_ACCOUNTS = _core("ServiceAccount", "serviceaccounts", status=False)
CONFIG_MAPS = _core("ConfigMap", "configmaps", status=False)
SECRETS = _core("Secret", "secrets", status=False)
REPLICA_SETS = _apps("ReplicaSet", "replicasets")
DEPLOYMENTS = _apps("Deployment", "deployments")
STATEFUL_SETS = _apps("StatefulSet", "statefulsets")
DAEMON_SETS = _apps("DaemonSet", "daemonsets")
JOBS = Kind(group="batch", version="v1", kind="Job", plural="jobs", generation=True)
CRON_JOBS = Kind(group="batch", version="v1", kind="CronJob", plural="cronjobs", generation=True)
LEASES = Kind(
    group="coordination.k8s.io",
    version="v1",
    kind="Lease",
    plural="leases",
    status=False,
    unconditional=False,
)
DISRUPTION_BUDGETS = Kind(
    group="policy",
    version="v1",
    kind="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    generation=True,
    unconditional=False,
)
AUTOSCALERS = Kind(
    group="autoscaling",
    version="v2",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
)
LIMIT_RANGES = _core("LimitRange", "limitranges", status=False)
RESOURCE_QUOTAS = _core("ResourceQuota", "resourcequotas")
SERVICES = _core("Service", "services")
DEFINITIONS = Kind(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    namespaced=False,
    generation=True,
    unconditional=False,
)
MUTATING_WEBHOOKS = _webhooks("MutatingWebhookConfiguration", "mutatingwebhookconfigurations")
VALIDATING_WEBHOOKS = _webhooks("ValidatingWebhookConfiguration", "validatingwebhookconfigurations")


def _stored(group: str, kind: str, plural: str, *, namespaced: bool) -> Kind:
    """What the fake keeps, and nobody there obeys."""
    return Kind(
        group=group, version="v1", kind=kind, plural=plural, namespaced=namespaced, status=False
    )


RBAC = "rbac.authorization.k8s.io"
CLUSTER_ROLES = _stored(RBAC, "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDINGS = _stored(RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
KUBE_ROLES = _stored(RBAC, "Role", "roles", namespaced=True)
ROLE_BINDINGS = _stored(RBAC, "RoleBinding", "rolebindings", namespaced=True)
CSI_DRIVERS = _stored("storage.k8s.io", "CSIDriver", "csidrivers", namespaced=False)
NETWORK_POLICIES = _stored("networking.k8s.io", "NetworkPolicy", "networkpolicies", namespaced=True)
PRIORITY_CLASSES = _stored(
    "scheduling.k8s.io", "PriorityClass", "priorityclasses", namespaced=False
)
TOKEN_REVIEWS = Kind(
    group="authentication.k8s.io",
    version="v1",
    kind="TokenReview",
    plural="tokenreviews",
    namespaced=False,
    create_only=True,
)
ACCESS_REVIEWS = Kind(
    group="authorization.k8s.io",
    version="v1",
    kind="SubjectAccessReview",
    plural="subjectaccessreviews",
    namespaced=False,
    create_only=True,
)
EVICTIONS = Kind(group="policy", version="v1", kind="Eviction", plural="evictions")
"""Created only below a pod; no resource of its own."""

BUILT_IN = (
    NAMESPACES,
    PODS,
    NODES,
    EVENTS,
    SERVICE_ACCOUNTS,
    CONFIG_MAPS,
    SECRETS,
    REPLICA_SETS,
    DEPLOYMENTS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    CRON_JOBS,
    LEASES,
    DISRUPTION_BUDGETS,
    AUTOSCALERS,
    LIMIT_RANGES,
    RESOURCE_QUOTAS,
    SERVICES,
    DEFINITIONS,
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
    CLUSTER_ROLES,
    CLUSTER_ROLE_BINDINGS,
    KUBE_ROLES,
    ROLE_BINDINGS,
    CSI_DRIVERS,
    NETWORK_POLICIES,
    PRIORITY_CLASSES,
    TOKEN_REVIEWS,
    ACCESS_REVIEWS,
)


def defined_by(definition: Mapping[str, Any]) -> list[Kind]:
    """The kinds that a CustomResourceDefinition serves, one for each served version."""
    spec = definition["spec"]
    return [
        Kind(
            group=spec["group"],
            version=version["name"],
            kind=spec["names"]["kind"],
            plural=spec["names"]["plural"],
            namespaced=spec["scope"] == "Namespaced",
            status="status" in version.get("subresources", {}),
            generation=True,
            custom=True,
            unconditional=False,
        )
        for version in spec["versions"]
        if version["served"]
    ]
