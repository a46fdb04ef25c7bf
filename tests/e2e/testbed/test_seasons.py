"""A season switches policies and back, and rolls wait for it, on a real control plane: by the day that a brain has learned before.

A day takes two minutes here. The brain finds what it has saved of eight of them, as after a restart: busy in the second
half of each. Nobody reports meanwhile, so what follows is the forecast. The brain of in_cluster/ must have ended: it knows
of no season, and two brains of two namespaces write into the same policies what each of them thinks.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from nemutator_common.admission_snapshots import SEASONS_PATH
from nemutator_controller.seasons.day_book import CLUSTER, SavedDay
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import (
    Answer,
    Installation,
    installed,
    nemutator,
)
from tests.e2e.testbed.workloads import replicated, wait_ready
from tests.fakes.databases import opened
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

DAY_S = 120.0
SLOTS = 8
LEARNED = 8
SWITCHED_WITHIN_S = 300
API = {"apiVersion": "nemutator.io/v1alpha1"}
BUSY = {"season": ["pre-peak", "peak"]}
BUFFER = FOLDER.parent / "buffers" / "buffer.yaml"
KEPT_FREE = 2


def learned() -> list[SavedDay]:
    today = int(time.time() // DAY_S)
    use = np.where(np.arange(SLOTS) < SLOTS // 2, 1.0, 10.0).astype(np.float16)
    return [SavedDay(CLUSTER, today - ago, use) for ago in range(1, LEARNED + 1)]


@pytest.fixture(scope="module")
def seasonal(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("seasons")
    (folder / "data").mkdir(mode=0o700)
    with opened(folder / "data" / "nemutator.db") as database:
        asyncio.run(SqlSeasonDays(database).save(learned(), day_s=DAY_S))
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    with (
        new_namespace(cluster, "seasons") as name,
        installed(
            cluster,
            name,
            folder,
            NEMUTATOR_BRAIN_SEASON_DAY_S=str(DAY_S),
            NEMUTATOR_BRAIN_BUFFER_PODS="5",
        ) as made,
    ):
        cluster.apply(*buffer(name))
        yield made
    cluster.kubectl("delete", "priorityclass", "nemutator-buffer")
    cluster.kubectl("delete", "mutationpolicy,seasonpolicy", "--all")


def buffer(namespace: str) -> Iterator[dict[str, Any]]:
    """What keeps room free, as its manifest has it, in *namespace*."""
    for document in yaml.safe_load_all(BUFFER.read_text()):
        if "namespace" in document["metadata"]:
            document["metadata"]["namespace"] = namespace
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
        yield document


def in_force(cluster: Cluster, kind: str, name: str) -> tuple[str, str]:
    """The status of its condition, and why."""
    found: dict[str, Any] = cluster.get(kind, name)
    conditions = found.get("status", {}).get("conditions", [])
    said = [each for each in conditions if each["type"] == "InForce"]
    return (said[0]["status"], said[0]["message"]) if said else ("", "")


@pytest.mark.timeout(900)  # four halves of a day, on a machine that may be busy
def test_a_season_switches_policies_and_back_and_a_switch_is_taken_back(
    seasonal: Installation, cluster: Cluster, tmp_path: Path
) -> None:
    brain = {
        "metadata": {"name": "busy-hours"},
        "spec": {"when": BUSY, "resizes": "Hold", "buffer": {"pods": KEPT_FREE}},
    }
    mutations = [{"labels": {"set": {"spread": "yes"}}}]
    policy = {
        "metadata": {"name": "spread"},
        "spec": {"when": BUSY, "mode": "Apply", "mutations": mutations},
    }
    cluster.apply(
        {**API, "kind": "SeasonPolicy", **brain}, {**API, "kind": "MutationPolicy", **policy}
    )

    def both_are(status: str) -> None:
        for kind, name in (("seasonpolicy", "busy-hours"), ("mutationpolicy", "spread")):
            until(
                lambda kind=kind, name=name: in_force(cluster, kind, name)[0] == status,  # type: ignore[misc]
                f"{kind} {name} is in force: {status}",
                within_s=SWITCHED_WITHIN_S,
            )

    def buffer_has(pods: int) -> None:
        until(
            lambda: (
                cluster.get("deployment", "nemutator-buffer", f"-n={seasonal.namespace}")["spec"][
                    "replicas"
                ]
                == pods
            ),
            f"{pods} pods keep room free",
            within_s=SWITCHED_WITHIN_S,
        )

    both_are("True")
    assert in_force(cluster, "seasonpolicy", "busy-hours")[1].startswith(
        "the season of the cluster is p"
    )
    buffer_has(KEPT_FREE)
    both_are("False")
    buffer_has(0)
    both_are("True")

    cluster.kubectl("create", "serviceaccount", "operator", f"-n={seasonal.namespace}")
    cluster.kubectl(
        "create", "clusterrolebinding", f"operator-{seasonal.namespace}",
        f"--clusterrole=nemutator-operator-{seasonal.namespace}",
        f"--serviceaccount={seasonal.namespace}:operator",
    )  # fmt: skip
    token = seasonal.token("operator", audience="")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return nemutator(seasonal, token, tmp_path, *words)

    shown = run("seasons")
    assert shown.returncode == 0, shown
    assert "A day here takes 120 s." in shown.stdout
    assert "SeasonPolicy/busy-hours" in shown.stdout
    kept = run("buffers")
    assert "Deployment " + seasonal.namespace + "/nemutator-buffer" in kept.stdout, kept
    listed = run("mutations", "-o", "json", "-n", seasonal.namespace)
    edits = [each["edits"][0] for each in json.loads(listed.stdout)["items"]]
    assert {(each["path"], each["policy"]) for each in edits} == {
        ("workload.spec.replicas", "busy-hours")
    }
    seasonal.pod("admission-1", seasonal.nodes[0], "nemutator-admission")
    admission = seasonal.token("nemutator-admission", pod="admission-1")
    followed = seasonal.ask(seasonal.uplink, SEASONS_PATH, token=admission)
    assert followed.json == {"in_season": ["spread"], "resizes_held": True}

    page = seasonal.ask(
        seasonal.console, "/api/v1/mutations?policy=busy-hours&limit=20", token=token
    )
    # What its buffer was scaled to stands there as well.
    newest = next(each for each in page.json["items"] if each["subject"]["kind"] == "SeasonPolicy")
    back = seasonal.ask(
        seasonal.console, f"/api/v1/mutations/{newest['id']}/rollback", token=token, body=b""
    )
    cluster.kubectl("delete", "clusterrolebinding", f"operator-{seasonal.namespace}")
    assert (back.status, back.json["state"]) == (200, "reversed"), back
    # The newest switch may have been that out of force: then it is in force again.
    wanted = "False" if newest["edits"][0]["after"] == ["true"] else "True"
    until(
        lambda: (
            in_force(cluster, "seasonpolicy", "busy-hours")
            == (wanted, "its last switch was taken back")
        ),
        "it is held as it was before",
        within_s=SWITCHED_WITHIN_S,
    )
    until(
        lambda: "taken back" not in in_force(cluster, "seasonpolicy", "busy-hours")[1],
        "its season frees it",
        within_s=SWITCHED_WITHIN_S,
    )


@pytest.mark.timeout(900)  # a day, on a machine that may be busy
def test_an_off_peak_roll_waits_for_the_end_of_the_peak(
    seasonal: Installation, cluster: Cluster, image: ImageStore, namespace: str
) -> None:
    cluster.apply(replicated("web", namespace, 1))
    wait_ready(cluster, namespace, "deployment/web")
    here = f"--namespace={namespace}"
    subject = f"--serviceaccount={seasonal.namespace}:off-peak-roller"
    cluster.kubectl("create", "serviceaccount", "off-peak-roller", f"-n={seasonal.namespace}")
    operator = f"nemutator-operator-{seasonal.namespace}"
    for role in (operator, "edit"):
        cluster.kubectl("create", "rolebinding", role, f"--clusterrole={role}", subject, here)
    viewer = seasonal.token("viewer", audience="")
    token = seasonal.token("off-peak-roller", audience="")
    query = f"namespace={namespace}"
    asked = {
        "workload": "deployment/web",
        "namespace": namespace,
        "reason": "new node",
        "offPeak": True,
    }

    def post(path: str, **more: object) -> Answer:
        body = json.dumps(more).encode()
        return seasonal.ask(seasonal.console, f"{path}?{query}", token=token, body=body)

    def season() -> str:
        shown = seasonal.ask(seasonal.console, "/api/v1/seasons", token=viewer)
        return str((shown.json["cluster"] or {}).get("season"))

    def starts() -> int:
        shown = seasonal.ask(seasonal.console, "/api/v1/seasons", token=viewer)
        return int((shown.json["cluster"] or {}).get("starts", 0))

    def roll() -> dict[str, Any]:
        path = f"/api/v1/rolls/{id_}?{query}"
        found: dict[str, Any] = seasonal.ask(seasonal.console, path, token=token).json
        return found

    def uids() -> set[str]:
        return {each["metadata"]["uid"] for each in cluster.get("pods", here)["items"]}

    until(
        lambda: post("/api/v1/rolls", **asked, planOnly=True).status == 200,
        "RBAC knows of it",
        within_s=60,
    )
    id_ = ""

    def is_put_off() -> bool:
        """A roll asked for at the last moment of a peak may begin at once: then there is a further one."""
        nonlocal id_
        if not id_ or not roll()["open"]:
            until(lambda: season() == "peak", "it is peak", within_s=SWITCHED_WITHIN_S)
            id_ = post("/api/v1/rolls", **asked).json["id"]
        found = roll()
        return found["state"] == "waiting" and "not off-peak now" in found["why"]

    # What its pod took from its creation until kubelet called it ready counts for the lead before the next peak.
    until(lambda: starts() >= 1, "its start was measured", within_s=SWITCHED_WITHIN_S)
    until(is_put_off, "the roll waits for off-peak", within_s=SWITCHED_WITHIN_S)
    before = uids()
    until(lambda: roll()["state"] == "done", "it is rolled off-peak", within_s=SWITCHED_WITHIN_S)
    wait_ready(cluster, namespace, "deployment/web")
    assert not before & uids()
