"""A node's taint follows its pressure on a real API server, and goes when it is well again; so does its grade for placement.

Nobody runs pods there: how much tasks of the nodes wait is what agents of both report.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from nemutator_common.wire import Batch, Envelope, Pressure, Pressures

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import (
    REPORTS,
    Installation,
    installed,
    nemutator,
    refusals,
)
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

PERMISSIONS = Path(__file__).parents[3] / "deploy" / "nodes" / "nodes.yaml"
PRESSURE = "nemutator.io/pressure"
PATIENCE_S = 300
MINUTE_S = 4
"""Five of them have to pass until a mean has fallen."""

Json = dict[str, Any]


def permissions(namespace: str) -> Iterator[Json]:
    for document in yaml.safe_load_all(PERMISSIONS.read_text()):
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
        yield document


@pytest.fixture
def marked(cluster: Cluster, tmp_path: Path) -> Iterator[Installation]:
    # Which policies are in force is known once they can be listed.
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    on = {
        "NEMUTATOR_BRAIN_PRESSURE_TAINTS": "true",
        "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S),
        "NEMUTATOR_BRAIN_RESERVE_NODES": "test.nemutator.io/pool=reserve",
    }
    with (
        new_namespace(cluster, "marks") as name,
        installed(cluster, name, tmp_path, **on) as brain,
    ):
        cluster.apply(*permissions(name))
        yield brain
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", "nemutator-brain-nodes")


def taints(cluster: Cluster, node: str) -> dict[str, str]:
    found: Json = cluster.get("node", node)
    return {one["key"]: one.get("value", "") for one in found["spec"].get("taints", ())}


def make_ready(cluster: Cluster, node: str) -> None:
    """As a kubelet would, once."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "50"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [ready]}
    patch = json.dumps({"status": status})
    cluster.kubectl("patch", "node", node, "--subresource=status", "--patch", patch)


@pytest.mark.timeout(600)
def test_what_could_be_emptied_is_read_from_the_api_server(
    marked: Installation, cluster: Cluster, tmp_path: Path
) -> None:
    node = marked.nodes[0]
    marked.pod("bare", node, "nemutator-agent")
    viewer = marked.token("viewer", audience="")

    def kept() -> bool:
        make_ready(cluster, node)
        shown = nemutator(marked, viewer, tmp_path, "packing", "--limit", "50")
        assert shown.returncode == 0, shown
        rows = [line for line in shown.stdout.splitlines() if line.startswith(node)]
        return len(rows) == 1 and "/bare: nobody would make another one" in rows[0]

    until(kept, "a pod that nobody owns keeps its node", within_s=PATIENCE_S)
    cluster.kubectl(
        "annotate", "node", node, "cluster-autoscaler.kubernetes.io/scale-down-disabled=true"
    )
    shown = nemutator(marked, viewer, tmp_path, "packing", "--limit", "50")
    [row] = [line for line in shown.stdout.splitlines() if line.startswith(node)]
    assert "scale-down-disabled: true" in row or "it is not ready" in row
    assert "nothing is emptied: brain.packing_nodes is 0" in shown.stdout
    assert refusals(marked) == []


@pytest.mark.timeout(900)
def test_a_taint_follows_the_pressure_of_its_node(marked: Installation, cluster: Cluster) -> None:
    busy, idle = marked.nodes
    cluster.kubectl("taint", "node", busy, "example.com/rack=a:PreferNoSchedule")
    cluster.kubectl("label", "node", idle, "test.nemutator.io/pool=reserve")
    agents = {}
    for node in marked.nodes:
        marked.pod(f"agent-{node}", node, "nemutator-agent")
        agents[node] = marked.token("nemutator-agent", pod=f"agent-{node}")
    seq = 0

    def reported(waiting: float) -> None:
        """What both agents say: tasks of the first wait for a CPU so many percent of the time."""
        nonlocal seq
        seq += 1
        for node in marked.nodes:
            now = time.time()
            one = report(now)
            some = Pressure(waiting if node == busy else 1.0, 0.0, 0.0, 0.0)
            machine = replace(one.machine, pressures=Pressures(cpu=some))
            look = Envelope(seq, replace(one, machine=machine))
            body = msgspec.json.encode(Batch(node, "e1", (look,)))
            answer = marked.ask(marked.uplink, REPORTS, token=agents[node], body=body)
            assert answer.status == 200, answer.body

    def has(wanted: str | None, waiting: float) -> bool:
        reported(waiting)
        return taints(cluster, busy).get(PRESSURE) == wanted

    until(lambda: has("4", 95.0), "the node is known to be under pressure", within_s=PATIENCE_S)
    # What others have written there stays, and no other node bears it; the reserve is closed.
    assert PRESSURE not in taints(cluster, idle)
    assert taints(cluster, busy)["example.com/rack"] == "a"
    until(
        lambda: "nemutator.io/reserve" in taints(cluster, idle),
        "the reserve is closed",
        within_s=PATIENCE_S,
    )
    found: Json = cluster.get("node", busy)
    [taint] = [one for one in found["spec"]["taints"] if one["key"] == PRESSURE]
    assert taint["effect"] == "PreferNoSchedule"
    metric = 'nemutator_node_marks{mark="nemutator.io/pressure"}'
    until(lambda: marked.counted(metric) == 1, "it is counted", within_s=PATIENCE_S)
    until(lambda: has(None, 0.0), "the node is well again", within_s=PATIENCE_S)
    assert taints(cluster, busy)["example.com/rack"] == "a"
    assert refusals(marked) == []
