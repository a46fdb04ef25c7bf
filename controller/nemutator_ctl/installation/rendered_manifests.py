"""The objects of an installation: what is shipped, with the parts and the values that were chosen.

Helm makes the same objects of the same values (tests/e2e/testbed/test_helm.py compares).
"""

import copy
import hashlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nemutator_ctl.installation.chart_values import ValuesError, at, merged
from nemutator_ctl.installation.settings_text import KUBELET, as_toml, settings_of
from nemutator_ctl.installation.shipped_manifests import ShippedManifests, is_on
from nemutator_ctl.installation.value_schema import faults

Json = dict[str, Any]

NAMESPACE = "nemutator"
SETTINGS = "nemutator-settings"
WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
WITHOUT_SETTINGS = frozenset({"scheduler", "buffer"})
"""Components that read none of ours, and have no environment of ours."""
TOKENS_IN_SECRETS = (1, 35)
"""The first Kubernetes with `serviceAccountTokenInSecrets`."""
SCRAPERS = "monitoring"
METRICS = "metrics-"
PRIVILEGED = "system-"


def chosen(shipped: ShippedManifests, *given: Mapping[str, Any]) -> Json:
    """All values, *given* ones over those that are shipped; raises ValuesError with all faults at once."""
    wanted: Json = {}
    for each in given:
        wanted = merged(wanted, each)
    values = merged(shipped.values, wanted)
    found = list(faults(values, shipped.schema))
    if not found:
        found = list(_missing(values))
    if found:
        raise ValuesError("; ".join(found))
    return values


def rendered(
    shipped: ShippedManifests, values: Mapping[str, Any], *, kubernetes: tuple[int, int]
) -> list[Json]:
    """In the order in which they are made. *kubernetes*: the cluster's version."""
    settings = _settings(shipped, values)
    found = []
    for when, document in shipped.documents:
        if is_on(when, values):
            found.append(_document(shipped, document, values, settings, kubernetes))
            if document["kind"] == "Namespace" and at(values, "crds.install"):
                found += shipped.definitions
    return [*found, *_monitoring(shipped, values)]


def left_out(shipped: ShippedManifests, values: Mapping[str, Any]) -> list[Json]:
    """What another choice would have installed and this one does not."""
    found = [document for when, document in shipped.documents if not is_on(when, values)]
    there = {each["kind"] for each in _monitoring(shipped, values)}
    everything = merged(values, {"metrics": {"enabled": True, **dict.fromkeys(EXTRAS, ON)}})
    return found + [each for each in _monitoring(shipped, everything) if each["kind"] not in there]


ON = {"enabled": True}
EXTRAS = ("podMonitor", "rules", "dashboards")


def _missing(values: Mapping[str, Any]) -> Iterator[str]:
    if at(values, "credentials.enabled") and not at(values, "vault.address"):
        yield "credentials need vault.address; without Vault set credentials.enabled=false"
    if at(values, "metrics.podMonitor.enabled") and not at(values, "metrics.enabled"):
        yield "metrics.podMonitor needs metrics.enabled: without it no process serves metrics on a port"
    if at(values, "scheduler.enabled") and not at(values, "scheduler.image"):
        yield "scheduler.image: that of your own scheduler"
    if at(values, "buffer.enabled") and not at(values, "buffer.image"):
        yield "buffer.image: one that does nothing for ever"


def _settings(shipped: ShippedManifests, values: Mapping[str, Any]) -> str:
    (document,) = (one for _, one in shipped.documents if one["metadata"]["name"] == SETTINGS)
    own = tomllib.loads(document["data"]["settings.toml"])
    init = _image(shipped, values, "agent") if at(values, "credentials.enabled") else ""
    return as_toml(settings_of(own, values, init_image=init, ports=_ports(shipped)))


def _ports(shipped: ShippedManifests) -> dict[str, int]:
    """By process: the port where it serves metrics."""
    return {
        container["name"]: port["containerPort"]
        for container in _containers(shipped)
        for port in container.get("ports", ())
        if port["name"].startswith(METRICS)
    }


def _containers(shipped: ShippedManifests) -> Iterator[Json]:
    for _, document in shipped.documents:
        if document["kind"] in WORKLOADS:
            yield from document["spec"]["template"]["spec"]["containers"]


def _image(shipped: ShippedManifests, values: Mapping[str, Any], which: str) -> str:
    registry = at(values, "images.registry")
    image = at(values, f"images.{which}") or {}
    digest, tag = image.get("digest"), image.get("tag") or shipped.version
    name = f"{registry}/{image['repository']}" if registry else str(image["repository"])
    return f"{name}@{digest}" if digest else f"{name}:{tag}"


def _document(
    shipped: ShippedManifests,
    document: Json,
    values: Mapping[str, Any],
    settings: str,
    kubernetes: tuple[int, int],
) -> Json:
    made = copy.deepcopy(document)
    match made["kind"]:
        case "ConfigMap" if made["metadata"]["name"] == SETTINGS:
            made["data"] = {"settings.toml": settings}
            if authority := at(values, "vault.ca"):
                made["data"]["vault-ca.crt"] = authority
        case "CSIDriver" if kubernetes < TOKENS_IN_SECRETS:
            made["spec"].pop("serviceAccountTokenInSecrets")
        case "NetworkPolicy":
            for rule in made["spec"]["ingress"]:
                for scraper in rule.get("from", ()):
                    labels = scraper.get("namespaceSelector", {}).get("matchLabels", {})
                    if labels.get("kubernetes.io/metadata.name") == SCRAPERS:
                        labels["kubernetes.io/metadata.name"] = at(values, "metrics.namespace")
        case kind if kind in WORKLOADS:
            _adapt(shipped, made, values, settings)
            made = _moved(made, str(at(values, "kubeletRoot")))
    return made


def _adapt(
    shipped: ShippedManifests, workload: Json, values: Mapping[str, Any], settings: str
) -> None:
    component = workload["metadata"]["labels"]["app.kubernetes.io/component"]
    spec, template = workload["spec"], workload["spec"]["template"]
    pod = template["spec"]
    if "replicas" in spec and component != "buffer":
        spec["replicas"] = at(values, f"{component}.replicas")
    if component not in WITHOUT_SETTINGS:
        # So that pods are made anew when their settings are others.
        checksum = hashlib.sha256(settings.encode()).hexdigest()
        template["metadata"]["annotations"] = {"checksum/settings": checksum}
    for name, value in (
        ("imagePullSecrets", at(values, "imagePullSecrets")),
        ("nodeSelector", at(values, f"{component}.nodeSelector")),
        ("tolerations", at(values, f"{component}.tolerations")),
    ):
        if value:
            pod[name] = value
    if str(pod.get("priorityClassName", "")).startswith(PRIVILEGED) and not at(
        values, "priorityClasses"
    ):
        del pod["priorityClassName"]
    if component == "agent":
        for part, conditions in (("containers", shipped.containers), ("volumes", shipped.volumes)):
            pod[part] = [
                each for each in pod[part] if is_on(conditions.get(each["name"], ()), values)
            ]
    for container in pod["containers"]:
        _adapt_container(shipped, container, values, component)
    if component == "brain":
        _adapt_storage(spec, at(values, "brain.storage") or {})


def _adapt_container(
    shipped: ShippedManifests, container: Json, values: Mapping[str, Any], component: str
) -> None:
    if component in WITHOUT_SETTINGS:
        container["image"] = at(values, f"{component}.image")
    else:
        which = "agent" if component == "agent" else "controller"
        container["image"] = _image(shipped, values, which)
        if more := at(values, "extraEnv"):
            container["env"] = [*more, *container.get("env", ())]
    if policy := at(values, "imagePullPolicy"):
        container["imagePullPolicy"] = policy
    if resources := (at(values, "resources") or {}).get(container["name"]):
        container["resources"] = resources


def _adapt_storage(spec: Json, storage: Mapping[str, Any]) -> None:
    if not storage.get("enabled"):
        del spec["volumeClaimTemplates"]
        spec["template"]["spec"]["volumes"].append({"name": "data", "emptyDir": {}})
        return
    for claim in spec["volumeClaimTemplates"]:
        claim["spec"]["resources"]["requests"]["storage"] = storage["size"]
        if storage.get("className"):
            claim["spec"]["storageClassName"] = storage["className"]


def _moved(found: Any, root: str) -> Any:
    """*found* with kubelet's directory where the cluster has it."""
    if isinstance(found, dict):
        return {name: _moved(value, root) for name, value in found.items()}
    if isinstance(found, list):
        return [_moved(each, root) for each in found]
    if isinstance(found, str) and (found == KUBELET or found.startswith(f"{KUBELET}/")):
        return root + found.removeprefix(KUBELET)
    return found


def _monitoring(shipped: ShippedManifests, values: Mapping[str, Any]) -> Iterator[Json]:
    """For the Prometheus Operator, and for the sidecar of Grafana's chart."""
    if at(values, "metrics.podMonitor.enabled"):
        names = [
            port["name"]
            for container in _containers(shipped)
            for port in container.get("ports", ())
            if port["name"].startswith(METRICS)
        ]
        spec = {
            "selector": {"matchLabels": {"app.kubernetes.io/name": "nemutator"}},
            "podMetricsEndpoints": [
                {
                    "port": name,
                    "interval": at(values, "metrics.podMonitor.interval"),
                    "relabelings": copy.deepcopy(RELABELLED),
                }
                for name in names
            ],
        }
        yield _labelled("monitoring.coreos.com/v1", "PodMonitor", values, "podMonitor", spec=spec)
    if at(values, "metrics.rules.enabled"):
        yield _labelled(
            "monitoring.coreos.com/v1", "PrometheusRule", values, "rules", spec=shipped.alerts
        )
    if at(values, "metrics.dashboards.enabled"):
        yield _labelled("v1", "ConfigMap", values, "dashboards", data=dict(shipped.dashboards))


RELABELLED = [
    {"sourceLabels": ["__meta_kubernetes_pod_container_name"], "targetLabel": "process"},
    {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"},
]


def _labelled(
    version: str, kind: str, values: Mapping[str, Any], part: str, **content: Any
) -> Json:
    name = "nemutator-dashboards" if kind == "ConfigMap" else "nemutator"
    metadata: Json = {"name": name, "namespace": NAMESPACE}
    if labels := at(values, f"metrics.{part}.labels"):
        metadata["labels"] = labels
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def everything(shipped: ShippedManifests) -> list[Json]:
    """All that any installation of this version can have made, its definitions excepted."""
    switches = {name for when, _ in shipped.documents for group in when for name in group}
    off = {name.partition(".")[0]: {"enabled": False} for name in switches}
    nothing = merged(shipped.values, off)
    return [
        *(document for when, document in shipped.documents if not when),
        *left_out(shipped, nothing),
    ]


def text_of(documents: Iterable[Json], written: Callable[[Json], str]) -> str:
    """As one YAML file."""
    return "".join(f"---\n{written(each)}" for each in documents)
