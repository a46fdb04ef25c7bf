"""Advice from real usage, given to a pod on a real kubelet while it runs, and taken back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.first_light.installation import Installation, delete_namespaces
from tests.e2e.first_light.manifests import AGENT
from tests.e2e.first_light.team import REACHED_S, WAITS, only
from tests.e2e.testbed.test_resize import Limits, limits_of
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

# It builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(2000)

NAMESPACE = "sized"
WHERE = f"--namespace={NAMESPACE}"
ASKED = {"cpu": "500m", "memory": "128Mi"}

POLICY = {
    "apiVersion": "nemutator.io/v1alpha1",
    "kind": "SizingPolicy",
    "metadata": {"name": "sized"},
    "spec": {
        "mode": "InPlace",
        "match": {"namespaces": [NAMESPACE], "kinds": ["Deployment"]},
        "resources": {"cpu": {"min": "50m", "largestStepPercent": 1000}},
        # Within a test.
        "settledSeconds": 0,
        "coolDownSeconds": 3600,
    },
}


def deployment() -> dict[str, Any]:
    labels = {"app": "web"}
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
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
            },
        },
    }


@pytest.fixture
def token(installation: Installation) -> Iterator[str]:
    """Of an operator."""
    cluster = installation.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster.kubectl("create", "serviceaccount", "operator", WHERE)
    account = f"--serviceaccount={NAMESPACE}:operator"
    cluster.kubectl(
        "create", "clusterrolebinding", "sizers", "--clusterrole=nemutator-operator", account
    )
    yield cluster.token(NAMESPACE, "operator")
    cluster.kubectl("delete", "clusterrolebinding", "sizers")
    delete_namespaces(cluster, NAMESPACE)


def test_a_pod_is_resized_in_place_from_its_own_usage_and_taken_back(
    installation: Installation, token: str, node: Node
) -> None:
    cluster = installation.cluster
    cluster.apply(deployment(), POLICY)
    cluster.kubectl("rollout", "status", "deployment/web", WHERE, "--timeout=300s", within_s=310)
    first = only(cluster.get("pods", WHERE)["items"])
    name, uid = first["metadata"]["name"], first["metadata"]["uid"]
    before, pids = limits_of(node, uid), node.pids_of(uid, "app")

    def pod() -> Any:
        return cluster.get("pod", name, WHERE)

    def requests() -> Any:
        return only(pod()["spec"]["containers"])["resources"]["requests"]

    def actuated() -> bool:
        status = only(pod()["status"]["containerStatuses"])
        return bool(status["resources"]["requests"] == requests())

    def told() -> str:
        found = cluster.get("sizingpolicy", "sized").get("status", {})
        return json.dumps(found) + json.dumps(
            installation.console("/api/v1/sizing", token=token).document["items"]
        )

    until(lambda: requests() != ASKED, "the pod was resized", within_s=REACHED_S)
    until(actuated, "kubelet has made it", within_s=REACHED_S)
    print("given:", requests(), told())
    assert requests()["cpu"] == "50m"
    after: Limits = limits_of(node, uid)
    assert after.share < before.share
    assert after.memory == before.memory
    assert node.pids_of(uid, "app") == pids
    assert only(pod()["status"]["containerStatuses"])["restartCount"] == 0

    mine = [
        one
        for one in installation.items("/api/v1/mutations?namespace=sized", token=token)
        if one["id"] in pod()["metadata"]["annotations"]["nemutator.io/mutation"]
    ]
    id_ = only(mine)["id"]
    print(installation.nemutator("rollback", id_, "--yes", token=token))
    assert requests() == ASKED
    until(actuated, "kubelet has taken it back", within_s=REACHED_S)
    assert limits_of(node, uid) == before
    assert only(pod()["status"]["containerStatuses"])["restartCount"] == 0
    assert node.pids_of(uid, "app") == pids

    def left() -> bool:
        items = installation.items("/api/v1/sizing", token=token)
        return any(one["state"] == "left" for item in items for one in item["pods"])

    until(left, "what was taken back is left alone", within_s=REACHED_S)
    assert requests() == ASKED
    print(cluster.kubectl("get", "sizingpolicies"))
    cluster.kubectl("delete", "sizingpolicy", "sized")
