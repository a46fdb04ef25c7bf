"""Off-peak, a real control plane has a node emptied within budgets and named, and a CapacityBuffer asked for room.

The brain finds the days that it has saved, as after a restart: of 24 hours one is an hour here, it is quiet now, and
busy in half a day. Nobody runs pods: the test is the kubelet of three nodes, and says when a pod is ready. As in
test_node_marks.py, no other brain may see these nodes.
"""

import asyncio
import datetime
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from nemutator_common import names
from nemutator_controller.policies.season_policies import SEASON_API_VERSION
from nemutator_controller.seasons.calendars import SeasonCalendar, zone_offset
from nemutator_controller.seasons.day_book import CLUSTER, SavedDay
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import (
    Installation,
    installed,
    nemutator,
    refusals,
)
from tests.e2e.testbed.test_eviction import allowed, budget
from tests.e2e.testbed.test_node_marks import permissions
from tests.e2e.testbed.test_seasons import buffer
from tests.e2e.testbed.workloads import container, replicated, sleeping
from tests.fakes.databases import opened
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

DAY_S = 3_600.0
DAYS = 8
PATIENCE_S = 300
POOL = "packing.test/pool"
KEEPS = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "50"}
DEFINITION = Path(__file__).parent / "capacity_buffers.yaml"
CAPACITY_BUFFER = FOLDER.parent / "buffers" / "capacity-buffer.yaml"
NAME = "nemutator-buffer"

Json = dict[str, Any]


def quiet_days(now: float) -> list[SavedDay]:
    """Of which only the quarter after the half that is around *now* is busy."""
    calendar = SeasonCalendar(zone_offset(datetime.UTC), DAY_S)
    here = calendar.place(now)
    use = np.ones(calendar.slots)
    use[calendar.slots // 2 : calendar.slots * 3 // 4] = 10.0
    day = np.roll(use, here.slot).astype(np.float16)
    return [SavedDay(CLUSTER, here.day - ago, day) for ago in range(1, DAYS + 1)]


@dataclass(frozen=True)
class Fleet:
    brain: Installation
    shop: str
    """The namespace of pods that may be moved: those of the brain's own are kept."""
    nodes: Sequence[str]

    @property
    def here(self) -> str:
        return f"--namespace={self.shop}"

    def beat(self) -> bool:
        """As kubelets do, from time to time: true, for conditions that are waited for."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "lastHeartbeatTime": now}
        status = {"allocatable": AMOUNTS, "capacity": AMOUNTS, "conditions": [ready]}
        self._patch("node", self.nodes, status)
        return True

    def web(self) -> dict[str, Json]:
        """Pods of the workload that are not ending, by uid."""
        found = self.brain.cluster.get("pods", "--selector=app=web", self.here)["items"]
        return {
            one["metadata"]["uid"]: one
            for one in found
            if "deletionTimestamp" not in one["metadata"]
        }

    def start_all(self) -> bool:
        """Have all pods that have a node be ready; whether there are two, and both are."""
        bound = [one for one in self.web().values() if one["spec"].get("nodeName")]
        names_ = [one["metadata"]["name"] for one in bound if not is_ready(one)]
        if names_:
            conditions = [{"type": "Ready", "status": "True"}]
            status = {"phase": "Running", "conditions": conditions}
            self._patch("pod", names_, status, self.here)
        return self.beat() and len(bound) == 2 and not names_

    def _patch(self, kind: str, which: Sequence[str], status: Json, *more: str) -> None:
        patch = json.dumps({"status": status})
        self.brain.cluster.kubectl(
            "patch", kind, *which, "--subresource=status", "--patch", patch, *more
        )

    def packing(self) -> dict[str, Json]:
        viewer = self.brain.token("viewer", audience="")
        shown = self.brain.ask(self.brain.console, "/api/v1/packing?limit=50", token=viewer)
        return {one["node"]: one for one in shown.json["items"]} if shown.status == 200 else {}

    def evictions(self) -> list[Json]:
        """Pods of all requests."""
        viewer = self.brain.token("viewer", audience="")
        path = "/api/v1/evictions"
        listed = self.brain.ask(self.brain.console, path, token=viewer).json["items"]
        shown = [
            self.brain.ask(self.brain.console, f"{path}/{one['id']}", token=viewer).json
            for one in listed
        ]
        return [{**pod, "by": one["by"]} for one in shown for pod in one["pods"]]


def is_ready(pod: Json) -> bool:
    said = pod.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in said)


def season_policy(name: str, **behaviour: object) -> Json:
    spec = {"when": {"season": ["off-peak"]}, **behaviour}
    return {
        "apiVersion": SEASON_API_VERSION,
        "kind": "SeasonPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def fleet(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("packing")
    (folder / "data").mkdir(mode=0o700)
    with opened(folder / "data" / "nemutator.db") as database:
        asyncio.run(SqlSeasonDays(database).save(quiet_days(time.time()), day_s=DAY_S))
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    # A real node that other tests have started is not what is to be emptied here.
    others = [one["metadata"]["name"] for one in cluster.get("nodes")["items"]]
    if others:
        cluster.kubectl("annotate", "node", *others, f"{KEEPS}=true")
    settings = {
        "NEMUTATOR_BRAIN_SEASON_DAY_S": str(DAY_S),
        "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": "4",
        "NEMUTATOR_BRAIN_PACKING_NODES": "1",
        "NEMUTATOR_BRAIN_BUFFER_PODS": "5",
        # So that it is the PodDisruptionBudget which the second pod has to wait for.
        "NEMUTATOR_BRAIN_EVICTIONS_PER_WORKLOAD": "2",
    }
    with (
        new_namespace(cluster, "packing") as name,
        new_namespace(cluster, "shop") as shop,
        installed(cluster, name, folder, **settings) as brain,
    ):
        third = brain.nodes[0].replace("link-a", "link-c")
        cluster.apply(
            *permissions(name),
            *buffer(name),
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": third}},
        )
        made = Fleet(brain, shop, (*brain.nodes, third))
        cluster.kubectl("label", "node", *made.nodes, f"{POOL}={shop}")
        made.beat()
        yield made
        cluster.kubectl("delete", "node", third, "--wait=false")
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", "nemutator-brain-nodes")
        cluster.kubectl("delete", "priorityclass", "nemutator-buffer")
        cluster.kubectl("delete", "seasonpolicy", "--all")
    if others:
        cluster.kubectl("annotate", "node", *others, f"{KEEPS}-")


@pytest.mark.timeout(900)  # a brain, a scheduler and controllers, on a machine that may be busy
def test_off_peak_a_node_is_emptied_within_a_budget_named_and_given_back(
    fleet: Fleet, cluster: Cluster, tmp_path: Path
) -> None:
    namespace = fleet.shop
    *halves, emptied = fleet.nodes

    def holds(condition: Any, what: str) -> None:
        until(lambda: fleet.beat() and condition(), what, within_s=PATIENCE_S)

    def has_room() -> bool:
        found = cluster.get("nodes", f"--selector={POOL}={namespace}")["items"]
        return not any(one["spec"].get("taints") for one in found)

    holds(has_room, "the node controller finds all nodes ready")
    resources = {"requests": {"cpu": "2", "memory": "64Mi"}}
    for node in halves:
        filled = [container(resources=resources)]
        cluster.apply(sleeping(f"half-{node}", namespace, nodeName=node, containers=filled))
    cluster.kubectl("cordon", *halves)
    web = replicated("web", namespace, 2)
    small = container(resources={"requests": {"cpu": "200m", "memory": "64Mi"}})
    web["spec"]["template"]["spec"] |= {
        "containers": [small],
        "nodeSelector": {POOL: namespace},
        # Nobody is there who would end it.
        "terminationGracePeriodSeconds": 0,
    }
    cluster.apply(web, budget(namespace, 2))
    holds(fleet.start_all, "both pods are ready")
    before = fleet.web()
    assert {one["spec"]["nodeName"] for one in before.values()} == {emptied}
    cluster.kubectl("uncordon", *halves)

    def plan() -> Json:
        return fleet.packing().get(emptied, {})

    budgeted = "the PodDisruptionBudget web lets none go now"
    holds(lambda: budgeted in plan().get("why", ""), "the budget keeps the node")
    cluster.apply(budget(namespace, 1))
    holds(lambda: allowed(cluster, namespace) == 1, "one may go")
    holds(lambda: plan().get("state") == "possible", "its pods have room elsewhere")
    assert {move["to"] for move in plan()["moves"]} <= set(halves)

    cluster.apply(season_policy("night", placement="Pack"))

    def states() -> list[str]:
        return sorted(one["state"] for one in fleet.evictions())

    holds(lambda: states() == ["evicted", "waits"], "one goes, and the other one has to wait")
    # It waits for as long as nobody takes the place of the first one.
    assert len(before.keys() & fleet.web().keys()) == 1
    assert [taint["key"] for taint in cluster.get("node", emptied)["spec"]["taints"]] == [
        names.EMPTYING
    ]

    def is_named() -> bool:
        said = cluster.get("node", emptied)["metadata"].get("annotations", {})
        return fleet.start_all() and str(names.REMOVABLE) in said

    until(is_named, "it is empty, and named removable", within_s=PATIENCE_S)
    after = fleet.web()
    assert not before.keys() & after.keys()
    assert {one["spec"]["nodeName"] for one in after.values()} <= set(halves)
    assert [(one["state"], one["by"]) for one in fleet.evictions()] == [
        ("evicted", "nemutator")
    ] * 2
    viewer = fleet.brain.token("viewer", audience="")
    shown = nemutator(fleet.brain, viewer, tmp_path, "packing", "--limit", "50")
    [row] = [line for line in shown.stdout.splitlines() if line.startswith(emptied)]
    assert "removable" in row, shown
    assert "SeasonPolicy night packs" in shown.stdout

    cluster.kubectl("delete", "seasonpolicy", "night")

    def is_given_back() -> bool:
        node = cluster.get("node", emptied)
        marks = {*node["metadata"].get("annotations", {})}
        marks |= {taint["key"] for taint in node["spec"].get("taints", ())}
        return not marks & {names.EMPTYING, names.REMOVABLE}

    holds(is_given_back, "its season is over, and it is a node as any other")
    assert refusals(fleet.brain) == []


@pytest.mark.timeout(600)  # a definition, and rounds of the brain, on a machine that may be busy
def test_a_capacity_buffer_of_any_served_version_takes_the_place_of_pods(
    fleet: Fleet, cluster: Cluster
) -> None:
    here = f"--namespace={fleet.brain.namespace}"

    def replicas(kind: str) -> int:
        return int(cluster.get(kind, NAME, here)["spec"]["replicas"])

    def asks_for(kind: str, pods: int) -> None:
        until(lambda: replicas(kind) == pods, f"{kind} of {pods}", within_s=PATIENCE_S)

    cluster.apply(season_policy("room", buffer={"pods": 2}))
    asks_for("deployment", 2)
    definition = yaml.safe_load(DEFINITION.read_text())
    cluster.apply(definition)
    crd = f"customresourcedefinition/{definition['metadata']['name']}"
    try:
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
        made = yaml.safe_load(CAPACITY_BUFFER.read_text())
        made["metadata"]["namespace"] = fleet.brain.namespace
        cluster.apply(made)
        asks_for("capacitybuffer", 2)
        asks_for("deployment", 0)
        # An older autoscaler, which knows no other version than the first one.
        alpha, beta = definition["spec"]["versions"]
        cluster.apply(
            definition
            | {"spec": definition["spec"] | {"versions": [alpha, beta | {"served": False}]}}
        )
        cluster.kubectl("delete", "seasonpolicy", "room")
        asks_for("capacitybuffer.v1alpha1.autoscaling.x-k8s.io", 0)
        said = {one["message"] for one in cluster.get("events", here)["items"]}
        assert any(one.startswith("from 0 to 2: SeasonPolicy room wants") for one in said), said
        assert refusals(fleet.brain) == []
    finally:
        cluster.kubectl("delete", crd)
