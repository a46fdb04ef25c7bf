"""A slow roll of a DaemonSet: its own controller goes from node to node, and never leaves two without a pod.

No kubelet runs on these nodes. The test says when a pod is ready, so that there is time to see what waits for it.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, refusals
from tests.e2e.testbed.workloads import container
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

POOL = "daemons.test/pool"
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "50"}
NODES = 3
PATIENCE_S = 90
# All nodes at once, which a slow roll must not do.
STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "100%"}}

Json = dict[str, Any]


@pytest.fixture
def pool(cluster: Cluster, namespace: str) -> Iterator[str]:
    """The label's value of nodes with room, to which nothing else is scheduled."""
    names = [f"{namespace}-{number}" for number in range(NODES)]
    spec = {"taints": [{"key": POOL, "value": namespace, "effect": "NoSchedule"}]}
    for name in names:
        metadata = {"name": name, "labels": {POOL: namespace}}
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec})
        status = json.dumps({"status": {"allocatable": ROOM, "capacity": ROOM}})
        cluster.kubectl("patch", "node", name, "--subresource=status", "--patch", status)
    yield namespace
    cluster.kubectl("delete", "node", *names, "--wait=false")


def daemons(namespace: str, pool: str) -> Json:
    labels = {"app": "log"}
    pod = {
        "containers": [container()],
        # No kubelet ends them: they are gone at once.
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {POOL: pool},
        "tolerations": [{"operator": "Exists"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "log", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": STRATEGY,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def make_ready(cluster: Cluster, namespace: str, pod: Json) -> None:
    """What a kubelet would write."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": since}
    status = json.dumps({"status": {"phase": "Running", "conditions": [condition]}})
    name = pod["metadata"]["name"]
    cluster.kubectl(
        "patch", "pod", name, f"-n={namespace}", "--subresource=status", "--patch", status
    )


@pytest.mark.timeout(420)  # a controller's steps, on a machine that may be busy
def test_a_daemon_set_is_rolled_from_node_to_node(
    installation: Installation, cluster: Cluster, namespace: str, pool: str
) -> None:
    here = f"--namespace={namespace}"
    cluster.apply(daemons(namespace, pool))

    def bound() -> list[Json]:
        found: list[Json] = cluster.get("pods", here)["items"]
        return [each for each in found if each["spec"].get("nodeName")]

    def daemon_set() -> Json:
        found: Json = cluster.get("daemonset", "log", here)
        return found

    until(lambda: len(bound()) == NODES, "each node has a pod", within_s=PATIENCE_S)
    for pod in bound():
        make_ready(cluster, namespace, pod)
    until(
        lambda: daemon_set()["status"].get("numberAvailable") == NODES,
        "all are available",
        within_s=PATIENCE_S,
    )
    before = {each["metadata"]["uid"] for each in bound()}

    where = f"--namespace={installation.namespace}"
    cluster.kubectl("create", "serviceaccount", "daemon-roller", where)
    subject = f"--serviceaccount={installation.namespace}:daemon-roller"
    operator = f"nemutator-operator-{installation.namespace}"
    for role in (operator, "edit"):
        cluster.kubectl("create", "rolebinding", role, f"--clusterrole={role}", subject, here)
    token = installation.token("daemon-roller", audience="")
    rolls = f"/api/v1/rolls?namespace={namespace}"
    asked = {"workload": "daemonset/log", "namespace": namespace, "reason": "new node agent"}

    def post(**more: object) -> Any:
        body = json.dumps(asked | more).encode()
        return installation.ask(installation.console, rolls, token=token, body=body)

    until(lambda: post(planOnly=True).status == 200, "RBAC knows of it", within_s=PATIENCE_S)
    begun = post(deadlineS=PATIENCE_S)
    assert begun.status == 202, begun

    for done in range(1, NODES + 1):
        until(
            lambda done=done: len({each["metadata"]["uid"] for each in bound()} - before) == done,  # type: ignore[misc]
            f"node {done} has its new pod",
            within_s=PATIENCE_S,
        )
        # The controller has seen that it is not ready, and still the next node keeps its old one.
        until(
            lambda: daemon_set()["status"].get("numberAvailable") == NODES - 1,
            "it is not available yet",
            within_s=PATIENCE_S,
        )
        [new] = [each for each in bound() if not ready(each)]
        assert len(before & {each["metadata"]["uid"] for each in bound()}) == NODES - done
        make_ready(cluster, namespace, new)

    shown = f"/api/v1/rolls/{begun.json['id']}?namespace={namespace}"

    def roll() -> Json:
        found: Json = installation.ask(installation.console, shown, token=token).json
        return found

    until(lambda: not roll()["open"], "the roll is finished", within_s=PATIENCE_S)
    assert (roll()["state"], roll()["why"]) == ("done", "")
    assert daemon_set()["spec"]["updateStrategy"] == STRATEGY
    assert not before & {each["metadata"]["uid"] for each in bound()}
    assert refusals(installation) == []
