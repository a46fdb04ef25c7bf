"""A pod of a real kubelet follows what is requested for this hour, made of a week that the brain has saved, in place; and a rollback takes that
back."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from nemutator_common.admission_snapshots import TOMBSTONES_PATH
from nemutator_common.wire import Batch, Envelope, Report, Summary
from nemutator_controller.sizing.hourly.points import PER_HOUR, KeptHours, points_of
from nemutator_controller.sizing.hourly.sql import SqlHourlyPoints
from nemutator_controller.sizing.hourly.stepping import LATE_S
from nemutator_controller.sizing.keys import ContainerKey

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import REPORTS, Installation, installed, refusals
from tests.e2e.testbed.planted_pods import container as container_of
from tests.e2e.testbed.test_resize import limits_of
from tests.e2e.testbed.workloads import container, replicated, wait_ready
from tests.fakes.databases import opened
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(900)

PATIENCE_S = 300
HOURS = 8 * 24
USED = 0.2
"""Cores, in each hour of the saved week; what the reports say now is less."""
REFUSED = (
    ("Evict", {"cpu": {"strategy": "Hourly"}}, "Hourly expects the mode InPlace"),
    ("InPlace", {"memory": {"strategy": "Hourly"}}, "Hourly is for CPU alone"),
)
STEP_S = 15.0
STEPS = 240

Json = dict[str, Any]


@pytest.fixture
def brain(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "data").mkdir(mode=0o700)
    now = time.time()
    hours = points_of(int((now - LATE_S) // 3_600) - HOURS, np.full((HOURS, PER_HOUR), USED))
    web = ContainerKey(namespace, "Deployment", "web", "app")
    with opened(tmp_path / "data" / "nemutator.db") as database:
        asyncio.run(SqlHourlyPoints(database).save({web: KeptHours(hours, now)}, []))
    crd = "sizingpolicies.nemutator.io"
    cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / "sizingpolicies.json"))
    cluster.kubectl(
        "wait", "--for=condition=Established", f"customresourcedefinition/{crd}", "--timeout=60s"
    )
    with new_namespace(cluster, "hourly") as name, installed(cluster, name, tmp_path) as made:
        yield made
    cluster.kubectl("delete", "sizingpolicy", "--all")


def hourly(namespace: str) -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "SizingPolicy",
        "metadata": {"name": "web"},
        "spec": {
            "mode": "InPlace",
            "match": {"namespaces": [namespace]},
            "resources": {"cpu": {"strategy": "Hourly"}, "memory": {"enabled": False}},
        },
    }


def used(now: float, uid: str, id_: str) -> Report:
    summaries = [
        Summary(
            path=f"/kubepods/pod{uid}/{id_}",
            pod_uid=uid,
            container_id=id_,
            from_at=now - (ago + 1) * STEP_S,
            to_at=now - ago * STEP_S,
            cpu_cores=USED / 2,
            memory_bytes=8 << 20,
        )
        for ago in range(STEPS, 0, -1)
    ]
    return replace(report(now), summaries=tuple(summaries))


def test_a_pod_follows_the_hour_in_place_and_is_taken_back(
    brain: Installation, cluster: Cluster, node: Node, image: ImageStore, namespace: str
) -> None:
    where = f"--namespace={namespace}"
    web = replicated("web", namespace, 1)
    asked = {"requests": {"cpu": "500m", "memory": "16Mi"}}
    web["spec"]["template"]["spec"]["containers"] = [container(resources=asked)]
    cluster.apply(web)
    wait_ready(cluster, namespace, "deployment/web")

    def pod() -> Json:
        [found] = cluster.get("pods", where, "--selector=app=web")["items"]
        return dict(found)

    first = pod()
    uid, on = first["metadata"]["uid"], str(first["spec"]["nodeName"])
    before = limits_of(node, uid)
    brain.pod("agent", on, "nemutator-agent")
    body = msgspec.json.encode(
        Batch(on, "e1", (Envelope(1, used(time.time(), *container_of(first))),))
    )
    agent = brain.token("nemutator-agent", pod="agent")
    assert brain.ask(brain.uplink, REPORTS, token=agent, body=body).status == 200
    brain.pod("admission-1", on, "nemutator-admission")
    admission = brain.token("nemutator-admission", pod="admission-1")
    viewer = brain.token("viewer", audience="")
    for mode, resources, why in REFUSED:
        wrong = {**hourly(namespace), "spec": {"mode": mode, "resources": resources}}
        with pytest.raises(KubectlError, match=why):
            cluster.apply(wrong)
    cluster.apply(hourly(namespace))

    def requested() -> str:
        # A replica of admission that nobody hears of would hold all resizes.
        assert brain.ask(brain.uplink, TOMBSTONES_PATH, token=admission).status in (200, 304)
        return str(pod()["spec"]["containers"][0]["resources"]["requests"]["cpu"])

    def actuated() -> str:
        return str(pod()["status"]["containerStatuses"][0]["resources"]["requests"]["cpu"])

    until(lambda: requested() != "500m", "the pod is resized", within_s=PATIENCE_S)
    given = requested()
    until(lambda: actuated() == given, "kubelet has made it", within_s=PATIENCE_S)
    [advice] = brain.ask(brain.console, f"/api/v1/advice?namespace={namespace}", token=viewer).json[
        "items"
    ]
    print(given, advice["requests"], advice["hourly"])
    # The week says so, and not what was reported of this hour.
    assert given == advice["hourly"]["cpu"] != advice["requests"]["cpu"]
    assert limits_of(node, uid).share < before.share
    assert pod()["metadata"]["uid"] == uid
    assert pod()["status"]["containerStatuses"][0]["restartCount"] == 0

    changes = f"/api/v1/mutations?namespace={namespace}"
    [change] = brain.ask(brain.console, changes, token=viewer).json["items"]
    assert [one["reason"] for one in change["edits"]] == [f"nemutator-hourly says {given}"]

    def told() -> bool:
        status = cluster.get("sizingpolicy", "web").get("status") or {}
        return any("follows use hourly" in one["message"] for one in status.get("conditions", ()))

    until(told, "the policy says which strategy decided", within_s=PATIENCE_S)
    operator = f"operator-{brain.namespace}"
    cluster.kubectl("create", "serviceaccount", "operator", f"-n={brain.namespace}")
    cluster.kubectl(
        "create", "clusterrolebinding", operator,
        f"--clusterrole=nemutator-{operator}", f"--serviceaccount={brain.namespace}:operator",
    )  # fmt: skip
    token = brain.token("operator", audience="")
    taken = f"/api/v1/mutations/{change['id']}/rollback"
    back = brain.ask(brain.console, taken, token=token, body=b"")
    cluster.kubectl("delete", "clusterrolebinding", operator)
    assert (back.status, back.json["state"]) == (200, "reversed"), back
    until(lambda: actuated() == "500m", "kubelet has taken it back", within_s=PATIENCE_S)
    assert limits_of(node, uid) == before
    assert requested() == "500m"
    assert refusals(brain) == []
