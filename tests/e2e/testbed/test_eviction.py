"""Eviction honours a PodDisruptionBudget, with real pods that are really ready."""

import json
from typing import Any

import pytest

from tests.e2e.testbed.workloads import replicated, wait_ready
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.running.waiting import until

REPLICAS = 2


def budget(namespace: str, at_least: int) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"minAvailable": at_least, "selector": {"matchLabels": {"app": "web"}}},
    }


def evict(cluster: Cluster, namespace: str, pod: str) -> None:
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
    cluster.kubectl("create", f"--raw={path}", "--filename=-", given=json.dumps(eviction))


def allowed(cluster: Cluster, namespace: str) -> int:
    """How many more pods may go; -1 until the controller has looked at the newest budget."""
    seen = cluster.get("pdb", "web", f"--namespace={namespace}")
    status = seen.get("status", {})
    current = status.get("observedGeneration") == seen["metadata"]["generation"]
    return int(status["disruptionsAllowed"]) if current else -1


@pytest.mark.timeout(120)  # two deployments of a pod each, on a machine that may be busy
def test_a_budget_decides_whether_a_pod_may_go(
    cluster: Cluster, image: ImageStore, namespace: str
) -> None:
    cluster.apply(replicated("web", namespace, REPLICAS), budget(namespace, REPLICAS))
    wait_ready(cluster, namespace, "deployment/web")
    where = f"--namespace={namespace}"
    pods = cluster.kubectl("get", "pods", where, "--output=name").split()
    assert len(pods) == REPLICAS
    one = pods[0].removeprefix("pod/")
    until(lambda: allowed(cluster, namespace) == 0, "the budget is used up", within_s=60)
    with pytest.raises(KubectlError, match="Cannot evict pod as it would violate the pod's"):
        evict(cluster, namespace, one)
    cluster.apply(budget(namespace, REPLICAS - 1))
    until(lambda: allowed(cluster, namespace) == 1, "one may go", within_s=60)
    evict(cluster, namespace, one)
    cluster.kubectl("wait", f"pod/{one}", "--for=delete", where, "--timeout=90s", within_s=100)
    wait_ready(cluster, namespace, "deployment/web")
    assert len(cluster.get("pods", where)["items"]) == REPLICAS
