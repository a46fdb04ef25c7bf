"""Labels follow a planted aggressor on a real control plane: they come, change, and go, on pods and on the metadata of workloads.

A node's agent reports for its pods what those of a planted node used and waited for, with stamps of the last hour when it begins, so
that chance is ruled out at once. A minute takes two seconds. Nobody runs the pods: the test says that they do.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.neighbours.labels import ALL_LABELS
from nemutator_controller.neighbours.node_window import FIGURES

from tests.e2e.testbed.in_cluster.installation import Installation, installed, nemutator, refusals
from tests.e2e.testbed.planted_pods import INNOCENT, Planted, PlantedAgent
from tests.e2e.testbed.workloads import replicated
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

MINUTE_S = 2
PATIENCE_S = 240
MILD = 0.4
"""Of what they would otherwise wait its victims wait for so much at first: the aggressor has grade 1 then, and 2 or 3 later."""
KNOWN = 62
FOREIGN = {"team": "batch"}
WORKLOADS = ("web", "batch")
NOW = {names.AGGRESSOR_NOW, names.VICTIM_NOW}

Json = dict[str, Any]
Labels = Mapping[str, str]


@pytest.fixture
def brain(cluster: Cluster, tmp_path: Path) -> Iterator[Installation]:
    pace = {"NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S)}
    with (
        new_namespace(cluster, "neighbours") as name,
        installed(cluster, name, tmp_path, **pace) as made,
    ):
        yield made


def run_pods(brain: Installation, namespace: str) -> Planted:
    """Pods of both workloads on a node without a kubelet, whose statuses say that they run."""
    cluster, where = brain.cluster, f"--namespace={namespace}"
    web, batch = replicated("web", namespace, INNOCENT), replicated("batch", namespace, 1)
    batch["spec"]["template"]["metadata"]["labels"] |= FOREIGN
    for one in (web, batch):
        one["spec"]["template"]["spec"]["nodeName"] = brain.nodes[0]
    cluster.apply(web, batch)

    def pods() -> list[Json]:
        found: list[Json] = cluster.get("pods", "--selector=app in (web,batch)", where)["items"]
        return found

    until(lambda: len(pods()) == INNOCENT + 1, "all pods are made", within_s=PATIENCE_S)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for number, pod in enumerate(pods()):
        [one] = pod["spec"]["containers"]
        running = {
            "name": one["name"],
            "image": one["image"],
            "imageID": "",
            "containerID": f"containerd://{number:064x}",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        ready = {"type": "Ready", "status": "True"}
        status = {"phase": "Running", "conditions": [ready], "containerStatuses": [running]}
        cluster.kubectl(
            "patch", "pod", pod["metadata"]["name"], where, "--subresource=status",
            "--patch", json.dumps({"status": status}),
        )  # fmt: skip
    return Planted(cluster, namespace)


@pytest.mark.timeout(PATIENCE_S * 4)  # a brain and four waits, on a machine that may be busy
def test_labels_come_change_and_go_with_a_planted_aggressor(
    brain: Installation, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    planted = run_pods(brain, namespace)
    agent = PlantedAgent(brain, planted, minute_s=MINUTE_S, known=KNOWN)
    whole = agent.values
    agent.values = whole.copy()
    agent.values[[FIGURES.index(name) for name in ("cpu_waiting", "turn_waiting")]] *= MILD
    where = f"--namespace={namespace}"

    def workload(name: str) -> Json:
        found: Json = cluster.get("deployment", name, where)
        return found

    def graded(meta: Json) -> Labels:
        bears: Labels = meta.get("labels", {})
        return {label: value for label, value in bears.items() if label in ALL_LABELS}

    def aggressor() -> Labels:
        agent.tell(brain)
        [pod] = planted.pods("batch")
        return graded(pod["metadata"])

    def victims() -> list[Labels]:
        return [labels for one in planted.pods("web") if (labels := graded(one["metadata"]))]

    def has_come() -> bool:
        return (
            names.AGGRESSOR_NOW in aggressor()
            and names.AGGRESSOR_NOW in graded(workload("batch")["metadata"])
            and names.VICTIM_NOW in graded(workload("web")["metadata"])
            and bool(victims())
        )

    until(has_come, "the aggressor and its victims bear their grades", within_s=PATIENCE_S)
    come_at, first = agent.seconds, int(aggressor()[names.AGGRESSOR_NOW])
    token = brain.token("viewer", audience="")
    told = nemutator(brain, token, tmp_path, "neighbours")
    assert "waits for a CPU" in told.stdout, told
    assert all(names.AGGRESSOR_NOW not in labels for labels in victims())
    assert names.VICTIM_NOW not in aggressor()

    agent.values = whole
    until(
        lambda: int(aggressor().get(names.AGGRESSOR_NOW, "0")) > first,
        "its grade rises as its victims suffer more",
        within_s=PATIENCE_S,
    )
    changed_at, second = agent.seconds, aggressor()[names.AGGRESSOR_NOW]

    agent.becomes_quiet()

    def is_gone() -> bool:
        everybody = [aggressor(), *victims(), *(graded(workload(n)["metadata"]) for n in WORKLOADS)]
        return not any(NOW & labels.keys() for labels in everybody)

    until(is_gone, "nobody bears a grade of now", within_s=PATIENCE_S)
    print(f"grade {first} at {come_at} s, {second} at {changed_at} s, gone at {agent.seconds} s")
    for name in WORKLOADS:
        found = workload(name)
        # A label on the template would have rolled it.
        assert found["metadata"]["generation"] == 1
        assert not graded(found["spec"]["template"]["metadata"])
    [pod] = planted.pods("batch")
    assert FOREIGN.items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["uid"] == planted.aggressor["metadata"]["uid"]
    assert refusals(brain) == []
