"""What `deploy/` holds, changed for a testbed: its images, its paths, its ports, its network."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[3]
TAG = "e2e"


def folders(tree: Path) -> tuple[Path, Path]:
    """Of the manifests in *tree*, in the order in which they are applied."""
    return tree / "deploy" / "crds", tree / "deploy" / "manifests"


def agent(tag: str) -> str:
    return f"localhost/nemutator/agent:{tag}"


def controller(tag: str) -> str:
    return f"localhost/nemutator/controller:{tag}"


FOLDERS = folders(REPOSITORY)
VERSION = "0.1.0"
AGENT, CONTROLLER = agent(TAG), controller(TAG)
KUBELET = "/var/lib/kubelet"
RUN = "/run/"
LONGEST_CALL_S = 30
"""The API server waits no longer for any webhook."""

EMULATED_PROBES = {"startupProbe": 30, "livenessProbe": 300, "readinessProbe": 120}
"""Seconds between two: to start a program in a container takes an emulated CPU ten of them."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the manifests are to work."""

    kubelet_root: Path
    settings: str
    """TOML for all processes."""
    ports: Mapping[str, int]
    """By the name that the container's port has."""
    environment: Mapping[str, str]
    """For processes that call the API server."""
    emulated: bool
    """Whether its CPUs are."""
    tree: Path = REPOSITORY
    tag: str = TAG
    """Of the images that were built of *tree*."""
    keeps: bool = False
    """Whether somebody provides storage; else what the brain has written goes with its pod."""
    asked_often: bool = False
    """Whether kubelet learns within half a minute that a process hangs. On a busy machine a healthy one may
    fail to answer for so long, and is started again, which the probes of deploy/ avoid."""


def documents(place: Place) -> list[Json]:
    """All of them, definitions first, as they are applied to the testbed."""
    found = (document for folder in folders(place.tree) for document in _read(folder))
    return [adapted(document, place) for document in found]


def _read(folder: Path) -> Iterator[Json]:
    found = [
        document
        for path in sorted(folder.glob("*.*"))
        for document in yaml.safe_load_all(path.read_text())
        if document is not None
    ]
    # What others lie in must be there before them.
    yield from sorted(found, key=lambda document: document["kind"] != "Namespace")


def adapted(document: Json, place: Place) -> Json:
    """*document* as a testbed needs it: on a node whose own network is all there is."""
    match document["kind"]:
        case "ConfigMap" if document["metadata"]["name"] == "nemutator-settings":
            document["data"] = {"settings.toml": place.settings}
        case "NetworkPolicy":
            for rule in document["spec"]["ingress"]:
                for port in rule["ports"]:
                    assert port["port"] in place.ports
        case "MutatingWebhookConfiguration":
            for webhook in document["webhooks"]:
                # What a busy machine delays is answered late, and is not let in without an answer.
                webhook["timeoutSeconds"] = LONGEST_CALL_S
        case "Deployment" | "DaemonSet" | "StatefulSet":
            _adapt_workload(document["spec"], place)
    return document


def _adapt_workload(spec: Json, place: Place) -> None:
    pod = spec["template"]["spec"]
    # One node, whose loopback is where the API server and Vault are.
    pod["hostNetwork"] = True
    pod.pop("priorityClassName", None)
    if "replicas" in spec:
        spec["replicas"] = 1
    if "strategy" in spec and place.keeps:
        # Two of one node's network cannot listen on one port.
        spec["strategy"] = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    for container in pod["containers"]:
        _adapt_container(container, place)
    for volume in pod.get("volumes", ()):
        if path := volume.get("hostPath"):
            path["path"] = _moved(path["path"], place)
    if not place.keeps:
        for claim in spec.pop("volumeClaimTemplates", ()):
            pod["volumes"].append({"name": claim["metadata"]["name"], "emptyDir": {}})


def _adapt_container(container: Json, place: Place) -> None:
    images = {
        f"nemutator/agent:{VERSION}": agent(place.tag),
        f"nemutator/controller:{VERSION}": controller(place.tag),
    }
    container["image"] = images.get(container["image"], container["image"])
    assert container["image"] in images.values()
    container["imagePullPolicy"] = "Never"
    container["resources"] = {}
    for mount in container.get("volumeMounts", ()):
        # Seen under the same path inside: kubelet names its volumes by it.
        if mount["mountPath"].startswith(KUBELET):
            mount["mountPath"] = _moved(mount["mountPath"], place)
    for port in container.get("ports", ()):
        port["containerPort"] = place.ports[port["name"]]
    if place.emulated:
        for probe, period_s in EMULATED_PROBES.items():
            container[probe] |= {"periodSeconds": period_s, "timeoutSeconds": period_s}
    else:
        # A test learns sooner than an operator what is ready.
        container["readinessProbe"] |= {"periodSeconds": 5}
        if place.asked_often:
            container["livenessProbe"] |= {"periodSeconds": 10, "failureThreshold": 3}
    container.setdefault("env", []).extend(
        {"name": name, "value": value} for name, value in place.environment.items()
    )


def _moved(path: str, place: Place) -> str:
    """Below kubelet's root, which ends with the run: nothing is left on the machine.

    Where that is the usual one, everything is where our manifests have it.
    """
    if str(place.kubelet_root) == KUBELET:
        return path
    if path.startswith(RUN):
        return f"{place.kubelet_root}{path}"
    return path.replace(KUBELET, str(place.kubelet_root), 1)
