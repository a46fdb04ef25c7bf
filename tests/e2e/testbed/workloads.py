"""Pods of busybox, as small as they can be."""

from typing import Any

from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.images import BUSYBOX

READY_S = 60
# The first process of a container gets no signal that it does not ask for.
OBEDIENT = "trap 'exit 0' TERM; sleep 600 & wait"


def sleeping(name: str, namespace: str, **spec: object) -> dict[str, Any]:
    """A pod that does nothing until it is deleted, which it obeys at once."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"containers": [container()], "terminationGracePeriodSeconds": 1, **spec},
    }


def container(**more: object) -> dict[str, Any]:
    return {
        "name": "app",
        "image": BUSYBOX,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", OBEDIENT],
        **more,
    }


def replicated(name: str, namespace: str, replicas: int) -> dict[str, Any]:
    """A Deployment of them."""
    labels = {"app": name}
    pod = {"containers": [container()], "terminationGracePeriodSeconds": 1}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def wait_ready(cluster: Cluster, namespace: str, what: str) -> None:
    """Until a pod or a Deployment is what it should be."""
    condition = "Available" if what.startswith("deployment/") else "Ready"
    cluster.kubectl(
        "wait", what, f"--for=condition={condition}", f"--namespace={namespace}",
        f"--timeout={READY_S}s", within_s=READY_S + 10,
    )  # fmt: skip
