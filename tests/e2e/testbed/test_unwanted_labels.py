"""Real controllers whose selectors want pods without a label that a policy adds: they make as many as they should."""

from collections.abc import Iterator
from http.client import HTTPSConnection

import pytest

from tests.e2e.testbed.webhook import Json, Webhook, asked, asking, define, pod, policy, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

PATIENCE_S = 90.0
LEFT = "policy old: metadata.labels[legacy]: left alone: the selector of its workload wants pods without it"


@pytest.fixture(scope="module")
def webhook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    define(cluster)
    with standing(cluster, tmp_path_factory.mktemp("unwanted"), brain=True) as hook:
        yield hook


def workload(kind: str, name: str, namespace: str, replicas: int) -> Json:
    selector = {
        "matchLabels": {"app": name},
        "matchExpressions": [{"key": "legacy", "operator": "DoesNotExist"}],
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": pod()["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def pods_of(cluster: Cluster, name: str, namespace: str) -> list[Json]:
    where = (f"--namespace={namespace}", f"--selector=app={name}")
    found: list[Json] = cluster.get("pods", *where)["items"]
    return found


def owned(pods: list[Json]) -> list[Json]:
    return [each for each in pods if each["metadata"].get("ownerReferences")]


@pytest.mark.timeout(420)  # a control plane that may be busy, and two processes with their imports
def test_no_workload_makes_pods_without_end(webhook: Webhook, namespace: str) -> None:
    cluster = webhook.cluster
    cluster.apply(policy("old", namespace, {"labels": {"set": {"legacy": "no", "team": "shop"}}}))
    webhook.until_known(namespace, "legacy")

    def has(kind: str, name: str, replicas: int) -> bool:
        status = cluster.get(kind, name, f"--namespace={namespace}")["status"]
        return bool(status.get("replicas", 0) == replicas)

    # Its selector is read, as soon as it is there.
    cluster.apply(workload("Deployment", "web", namespace, 0))
    with asking(cluster) as connection:
        until(
            lambda: LEFT in warnings(connection, cluster, namespace),
            "admission knows the selector",
            within_s=PATIENCE_S,
        )
    cluster.apply(workload("Deployment", "web", namespace, 3))
    until(lambda: has("deployment", "web", 3), "the Deployment has its pods", within_s=PATIENCE_S)
    made = pods_of(cluster, "web", namespace)
    # Not one more was made.
    assert len(made) == len(owned(made)) == 3
    labels = [each["metadata"]["labels"] for each in made]
    assert all(each.get("team") == "shop" and "legacy" not in each for each in labels)
    # Nobody reads that of a ReplicaSet: it is learned from the first pods that it lets go, and which
    # of our labels it was for is not known.
    cluster.apply(workload("ReplicaSet", "bare", namespace, 2))
    until(lambda: has("replicaset", "bare", 2), "the ReplicaSet has its pods", within_s=PATIENCE_S)
    before = pods_of(cluster, "bare", namespace)
    assert len(owned(before)) == 2
    cluster.apply(workload("ReplicaSet", "bare", namespace, 4))
    until(lambda: has("replicaset", "bare", 4), "it has two more", within_s=PATIENCE_S)
    after = pods_of(cluster, "bare", namespace)
    assert len(after) == len(before) + 2
    assert all("legacy" not in each["metadata"]["labels"] for each in owned(after))


def warnings(connection: HTTPSConnection, cluster: Cluster, namespace: str) -> str:
    """What the API server says to who creates a pod of the Deployment."""
    of = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web-1",
        "uid": "u",
        "controller": True,
    }
    labels = {"app": "web", "pod-template-hash": "1"}
    path = f"/api/v1/namespaces/{namespace}/pods"
    status, _, said = asked(connection, cluster, path, pod(labels=labels, ownerReferences=[of]))
    assert status == 201
    return said
