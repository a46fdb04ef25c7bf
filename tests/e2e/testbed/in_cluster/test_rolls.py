"""A slow roll on a real node: one pod at a time, no further than the first that fails, and as it was after."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, nemutator, refusals
from tests.e2e.testbed.workloads import container, replicated, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.running.waiting import until

STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}


def switched(name: str, namespace: str, replicas: int) -> dict[str, Any]:
    """Its pods become ready as the ConfigMap said when they were made."""
    made = replicated(name, namespace, replicas)
    made["spec"]["strategy"] = STRATEGY
    reference = {"configMapKeyRef": {"name": "switch", "key": "ready"}}
    made["spec"]["template"]["spec"]["containers"] = [
        container(
            env=[{"name": "READY", "valueFrom": reference}],
            readinessProbe={
                "exec": {"command": ["sh", "-c", 'test "$READY" = yes']},
                "periodSeconds": 1,
                "timeoutSeconds": 10,
            },
        )
    ]
    return made


def window(first: int, last: int) -> str:
    """From so many hours from now."""
    now = datetime.now(UTC)
    begin, end = (f"{now + timedelta(hours=hours):%H:%M}" for hours in (first, last))
    return f"--window={begin}-{end}"


def switch(cluster: Cluster, namespace: str, ready: str) -> None:
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "switch", "namespace": namespace},
            "data": {"ready": ready},
        }
    )


@pytest.mark.timeout(420)  # pods that start one after another, on a machine that may be busy
def test_a_roll_is_slow_and_stops_at_the_first_pod_that_fails(
    installation: Installation,
    cluster: Cluster,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    switch(cluster, namespace, "yes")
    cluster.apply(switched("web", namespace, 2), switched("api", namespace, 1))
    for each in ("web", "api"):
        wait_ready(cluster, namespace, f"deployment/{each}")
    here, where = f"--namespace={namespace}", f"--namespace={installation.namespace}"
    cluster.kubectl("create", "serviceaccount", "roller", where)
    subject = f"--serviceaccount={installation.namespace}:roller"
    operator = f"--clusterrole=nemutator-operator-{installation.namespace}"
    cluster.kubectl("create", "rolebinding", "roller", operator, subject, here)
    token = installation.token("roller", audience="")

    def roll(*words: str) -> subprocess.CompletedProcess[str]:
        return nemutator(installation, token, tmp_path, "roll", *words, here)

    def spec() -> dict[str, Any]:
        found: dict[str, Any] = cluster.get("deployment", "web", here)["spec"]
        return found

    def uids(name: str) -> set[str]:
        found = cluster.get("pods", f"--selector=app={name}", here)["items"]
        return {each["metadata"]["uid"] for each in found}

    asked = ("deployment/web", "--reason=new node", "--yes")
    denied = roll(*asked)
    assert "may not patch Deployment" in denied.stderr, denied
    cluster.kubectl("create", "rolebinding", "editing", "--clusterrole=edit", subject, here)
    until(lambda: roll("deployment/web", "--plan").returncode == 0, "RBAC knows it", within_s=60)
    before = uids("web")

    # Both are looked at in turn: when the other one is done, this one has been.
    closed = roll(*asked, window(6, 7), "--output=json")
    assert closed.returncode == 0, closed
    id_ = json.loads(closed.stdout)["id"]
    done = roll("deployment/api", "--reason=new node", "--yes", "--wait", window(-1, 6))
    assert done.returncode == 0, done
    assert json.loads(roll(f"--show={id_}", "--output=json").stdout)["state"] == "waiting"
    assert (spec()["strategy"], uids("web")) == (STRATEGY, before)
    stopped = roll(f"--stop={id_}")
    assert stopped.returncode == 0, stopped

    done = roll(*asked, "--wait")
    assert done.returncode == 0, done
    print(done.stdout)
    assert spec()["strategy"] == STRATEGY
    wait_ready(cluster, namespace, "deployment/web")
    assert not before & uids("web")

    switch(cluster, namespace, "no")
    before = uids("web")
    failed = roll(*asked, "--deadline=15", "--wait")
    print(failed.stdout)
    assert (failed.returncode, "a pod was not ready within 15 s" in failed.stdout) == (1, True), (
        failed
    )
    after = spec()
    assert (after["strategy"], after["paused"]) == (STRATEGY, True)
    assert len(before & uids("web")) == 1
    assert "it is paused" in roll("deployment/web", "--plan").stdout
    assert refusals(installation) == []
    events = cluster.get("events", here)["items"]
    assert any("the slow roll was stopped" in each["message"] for each in events)
