"""A roll whose window ends in the middle is held, on a real control plane.

No node runs its pods, so the roll is still in the middle when its window ends, at the next full minute.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, refusals
from tests.e2e.testbed.workloads import replicated
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

PATIENCE_S = 120
STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}


def ends_soon() -> str:
    """A window that holds now, for at most a minute and some seconds."""
    now = datetime.now(UTC)
    end = now + timedelta(seconds=75)
    return f"{now - timedelta(hours=1):%H:%M}-{end:%H:%M}"


@pytest.mark.timeout(420)  # a full minute, on a machine that may be busy
def test_a_roll_is_held_when_its_window_closes(
    installation: Installation, cluster: Cluster, namespace: str
) -> None:
    made = replicated("web", namespace, 2)
    made["spec"]["strategy"] = STRATEGY
    made["spec"]["template"]["spec"]["nodeSelector"] = {"nowhere": namespace}
    cluster.apply(made)
    here = f"--namespace={namespace}"
    subject = f"--serviceaccount={installation.namespace}:night-roller"
    cluster.kubectl("create", "serviceaccount", "night-roller", f"-n={installation.namespace}")
    for role in (f"nemutator-operator-{installation.namespace}", "edit"):
        cluster.kubectl("create", "rolebinding", role, f"--clusterrole={role}", subject, here)
    token = installation.token("night-roller", audience="")

    def post(path: str, **more: object) -> Any:
        body = json.dumps(more).encode()
        where = f"/api/v1/rolls{path}?namespace={namespace}"
        return installation.ask(installation.console, where, token=token, body=body)

    asked = {"workload": "deployment/web", "namespace": namespace, "reason": "new node"}
    until(
        lambda: post("", **asked, planOnly=True).status == 200,
        "RBAC knows of it",
        within_s=PATIENCE_S,
    )
    id_ = post("", **asked, window=ends_soon(), deadlineS=600).json["id"]

    def roll() -> dict[str, Any]:
        path = f"/api/v1/rolls/{id_}?namespace={namespace}"
        found: dict[str, Any] = installation.ask(installation.console, path, token=token).json
        return found

    def spec() -> dict[str, Any]:
        found: dict[str, Any] = cluster.get("deployment", "web", here)["spec"]
        return found

    until(lambda: roll()["state"] == "rolling", "it has begun", within_s=PATIENCE_S)
    assert spec()["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    until(lambda: roll()["state"] == "held", "its window is over", within_s=PATIENCE_S)
    assert roll()["why"].startswith("its window is over")
    held = spec()
    assert (held["paused"], held["strategy"]["rollingUpdate"]["maxSurge"]) == (True, 0)
    assert post(f"/{id_}/stop").status == 200
    assert spec()["strategy"] == STRATEGY
    assert refusals(installation) == []
