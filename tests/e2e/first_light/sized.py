"""Deployments whose use becomes advice, and policies for them."""

import json
from dataclasses import dataclass
from typing import Any

from tests.e2e.first_light.installation import Installation
from tests.e2e.first_light.manifests import AGENT
from tests.e2e.first_light.team import WAITS, only
from tests.testbed.parts.control_plane import Cluster

NAMESPACE = "sized"
WHERE = f"--namespace={NAMESPACE}"
ASKED = {"cpu": "500m", "memory": "128Mi"}


def policy(name: str, mode: str) -> dict[str, Any]:
    """For the Deployment of its name."""
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "SizingPolicy",
        "metadata": {"name": name},
        "spec": {
            "mode": mode,
            "match": {"namespaces": [NAMESPACE], "kinds": ["Deployment"], "names": [name]},
            "resources": {"cpu": {"min": "50m", "largestStepPercent": 1000}},
            # Within a test.
            "settledSeconds": 0,
            "coolDownSeconds": 60 if mode == "Evict" else 3600,
        },
    }


def deployment(name: str, replicas: int = 1) -> dict[str, Any]:
    labels = {"app": name}
    container = {
        "name": "app",
        "image": AGENT,
        "imagePullPolicy": "Never",
        "command": ["python", "-c", WAITS],
        "resources": {"requests": ASKED, "limits": {"memory": "256Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
            },
        },
    }


@dataclass(frozen=True, slots=True)
class Sized:
    """Deployments whose use is measured from the beginning, and an operator's token."""

    installation: Installation
    token: str

    @property
    def cluster(self) -> Cluster:
        return self.installation.cluster

    def pods(self, name: str) -> list[dict[str, Any]]:
        """Those that stay."""
        found = self.cluster.get("pods", WHERE, f"--selector=app={name}")["items"]
        return [one for one in found if "deletionTimestamp" not in one["metadata"]]

    def is_ready(self, name: str) -> None:
        self.cluster.kubectl(
            "rollout", "status", f"deployment/{name}", WHERE, "--timeout=300s", within_s=310
        )

    def next_pod(self, name: str) -> dict[str, Any]:
        """The one that comes after the only one."""
        self.cluster.kubectl("delete", "pod", WHERE, f"--selector=app={name}", within_s=120)
        self.is_ready(name)
        (pod,) = self.pods(name)
        return pod

    def next_pods(self, name: str, gone: str) -> list[dict[str, Any]]:
        """Those that come after the pod *gone*."""
        before = {pod["metadata"]["uid"] for pod in self.pods(name)}
        self.cluster.kubectl("delete", "pod", gone, WHERE, within_s=120)
        self.is_ready(name)
        return [pod for pod in self.pods(name) if pod["metadata"]["uid"] not in before]

    def whys(self, policy: str) -> list[tuple[str, str]]:
        items = self.installation.items("/api/v1/sizing", token=self.token)
        return [
            (one["state"], one["why"])
            for item in items
            if item["policy"] == policy
            for one in item["pods"]
        ]

    def taken_back(self, pod: dict[str, Any]) -> None:
        """What was given to it."""
        stamp = json.loads(pod["metadata"]["annotations"]["nemutator.io/mutation"])
        print(self.installation.nemutator("rollback", stamp["id"], "--yes", token=self.token))


def requests_of(pod: dict[str, Any]) -> dict[str, str]:
    return dict(only(pod["spec"]["containers"])["resources"]["requests"])


def budget(at_least: int) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "moved", "namespace": NAMESPACE},
        "spec": {"minAvailable": at_least, "selector": {"matchLabels": {"app": "moved"}}},
    }


def no_resizes() -> list[dict[str, Any]]:
    """A cluster that lets no pod of the Deployment be resized."""
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "no-resizes"}}
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["pods/resize"],
    }
    return [
        {
            **kind,
            "kind": "ValidatingAdmissionPolicy",
            "spec": {
                "matchConstraints": {
                    "resourceRules": [rule],
                    "objectSelector": {"matchLabels": {"app": "moved"}},
                },
                "validations": [{"expression": "false", "message": "pods keep their sizes here"}],
            },
        },
        {
            **kind,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": "no-resizes", "validationActions": ["Deny"]},
        },
    ]


THIRSTY = """\
import os, time
while not os.path.exists("/state/go"):
    time.sleep(0.2)
os.remove("/state/go")
much = bytearray(b"x" * (400 << 20))
"""
"""It takes more memory than it may once somebody asks for that, and not again after its end."""


GO = "open('/state/go', 'w')"
SMALL = {"cpu": "20m", "memory": ASKED["memory"]}


def with_container(name: str, **changed: Any) -> dict[str, Any]:
    made = deployment(name)
    spec = made["spec"]["template"]["spec"]
    spec["containers"][0] |= changed
    spec["containers"][0]["resources"]["requests"] = SMALL
    spec["volumes"] = [{"name": "state", "emptyDir": {}}]
    return made
