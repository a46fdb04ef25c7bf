"""A real kube-scheduler asks the brain, and a pod's node is another one for it.

By requests the one node is nearly empty, by real use it is full; the other one the other way round. Nobody runs pods on
either: what they use is what agents of both report.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from nemutator_common.wire import Batch, Envelope, Summary

from tests.e2e.testbed.in_cluster.installation import (
    REPORTS,
    Installation,
    installed,
    nemutator,
    refusals,
)
from tests.e2e.testbed.workloads import container, sleeping
from tests.fakes.reports import report
from tests.testbed.parts import schedulers
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

MANIFEST = Path(__file__).parents[4] / "deploy" / "scheduler" / "scheduler.yaml"
PERMISSIONS = {"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"}
PATIENCE_S = 120
POOL = "scheduling.test/pool"
ALLOCATABLE = {"cpu": "4", "memory": "8Gi", "pods": "50"}

Json = dict[str, Any]


@dataclass(frozen=True)
class Scheduled:
    """A brain that answers schedulers, and one of them."""

    brain: Installation
    extender: int
    scheduler: Daemon
    agents: dict[str, str]
    """The token of each node's agent."""

    @property
    def pool(self) -> str:
        return self.brain.nodes[0]

    def place(self, name: str, *, scheduler: str) -> str:
        """The node that a new pod gets."""
        cluster, namespace = self.brain.cluster, self.brain.namespace
        cluster.apply(
            sleeping(
                name,
                namespace,
                schedulerName=scheduler,
                nodeSelector={POOL: self.pool},
                tolerations=[{"operator": "Exists"}],
                containers=[container(resources={"requests": {"cpu": "100m", "memory": "64Mi"}})],
            )
        )

        def bound() -> str:
            found: Json = cluster.get("pod", name, f"-n={namespace}")
            return str(found["spec"].get("nodeName", ""))

        until(lambda: bool(bound()), f"{name} has a node", within_s=PATIENCE_S)
        return bound()

    def report(self, seq: int, used: dict[str, tuple[str, float]]) -> None:
        """What agents say: by node a pod's uid, and the cores that it uses."""
        for node, (uid, cores) in used.items():
            now = time.time()
            summary = Summary(
                path=f"/kubepods/pod{uid}/{'a' * 64}",
                pod_uid=uid,
                container_id="a" * 64,
                from_at=now - 15,
                to_at=now,
                cpu_cores=cores,
                memory_bytes=64 << 20,
            )
            look = replace(report(now), summaries=(summary,))
            body = msgspec.json.encode(Batch(node, "e1", (Envelope(seq, look),)))
            answer = self.brain.ask(self.brain.uplink, REPORTS, token=self.agents[node], body=body)
            assert answer.status == 200, answer.body

    def scores(self, *names: str) -> dict[str, int]:
        body = json.dumps({"Pod": sleeping("asked", "x"), "NodeNames": names}).encode()
        answer = self.brain.ask(self.extender, "/prioritize", body=body)
        assert answer.status == 200, answer.body
        return {one["Host"]: one["Score"] for one in answer.json}


def second_scheduler(brain: Installation, extender: int) -> Daemon:
    """As its manifest has it, with its permissions, in the brain's namespace."""
    cluster, namespace = brain.cluster, brain.namespace
    documents = list(yaml.safe_load_all(MANIFEST.read_text()))
    wanted = [each for each in documents if each["kind"] in PERMISSIONS]
    for document in wanted:
        if "namespace" in document["metadata"]:
            document["metadata"]["namespace"] = namespace
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
    cluster.apply(*wanted)
    texts: list[str] = [
        each["data"]["configuration.yaml"] for each in documents if each["kind"] == "ConfigMap"
    ]
    configuration = yaml.safe_load(texts[0])
    configuration["leaderElection"]["resourceNamespace"] = namespace
    [asked] = configuration["extenders"]
    # On a machine that is busy with tests no answer is as quick as on one that is not.
    asked["httpTimeout"] = "30s"
    published = cluster.get("configmap", "nemutator-ca", f"-n={namespace}")["data"]["ca.crt"]
    ca_file = cluster.run.file("extender-ca.crt", published)
    schedulers.trusting(configuration, f"https://{LOOPBACK}:{extender}", ca_file)
    token = brain.token("nemutator-scheduler", audience="")
    scheduler, _ = schedulers.begin(cluster, "second-scheduler", configuration, token=token)
    return scheduler


@pytest.fixture
def scheduled(cluster: Cluster, tmp_path: Path) -> Iterator[Scheduled]:
    extender = free_port()
    setting = {"NEMUTATOR_BRAIN_EXTENDER": f"{LOOPBACK}:{extender}"}
    with (
        new_namespace(cluster, "scheduling") as name,
        installed(cluster, name, tmp_path, **setting) as brain,
    ):
        agents = {}
        for node in brain.nodes:
            cluster.kubectl("label", "node", node, f"{POOL}={brain.nodes[0]}")
            status = json.dumps({"status": {"allocatable": ALLOCATABLE, "capacity": ALLOCATABLE}})
            cluster.kubectl("patch", "node", node, "--subresource=status", "--patch", status)
            brain.pod(f"agent-{node}", node, "nemutator-agent")
            agents[node] = brain.token("nemutator-agent", pod=f"agent-{node}")
        scheduler = second_scheduler(brain, extender)
        yield Scheduled(brain, extender, scheduler, agents)
        scheduler.stop()
        cluster.kubectl(
            "delete", "clusterrolebinding", "nemutator-scheduler", "nemutator-scheduler-volumes"
        )


@pytest.mark.timeout(600)  # a brain, a scheduler and their leases, on a machine that may be busy
def test_a_pod_goes_where_there_is_room_in_truth_and_somewhere_without_us(
    scheduled: Scheduled, cluster: Cluster, tmp_path: Path
) -> None:
    brain = scheduled.brain
    busy, idle = brain.nodes
    pods = {}
    for name, node, cpu in (("hog", busy, "100m"), ("reserved", idle, "3")):
        requests = {"cpu": cpu, "memory": "64Mi"}
        cluster.apply(
            sleeping(
                name,
                brain.namespace,
                nodeName=node,
                containers=[container(resources={"requests": requests})],
            )
        )
        found = cluster.get("pod", name, f"-n={brain.namespace}")
        pods[node] = found["metadata"]["uid"]
    used = {busy: (pods[busy], 3.9), idle: (pods[idle], 0.4)}
    seq = 0

    def is_known() -> bool:
        nonlocal seq
        seq += 1
        scheduled.report(seq, used)
        scores = scheduled.scores(busy, idle, "nobody")
        return scores[idle] == 10 and scores[busy] == 0 and scores["nobody"] == 5

    until(is_known, "the brain knows who is busy", within_s=PATIENCE_S)
    assert scheduled.place("by-requests", scheduler="default-scheduler") == busy
    before = brain.counted('nemutator_placements_scored_total{result="scored"}')
    until(is_known, "it still does", within_s=PATIENCE_S)
    assert scheduled.place("by-use", scheduler="nemutator") == idle
    assert brain.counted('nemutator_placements_scored_total{result="scored"}') > before

    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(sleeping("asked", brain.namespace)))
    viewer = brain.token("viewer", audience="")
    shown = nemutator(brain, viewer, tmp_path, "place", str(manifest))
    print(shown.stdout)
    names = [line.split()[0] for line in shown.stdout.splitlines() if line.strip()]
    assert names.index(idle) < names.index(busy), shown
    assert refusals(brain) == []

    # Without the brain the scheduler goes on.
    assert brain.process is not None
    brain.process.kill()
    brain.process.wait()
    assert scheduled.place("on-its-own", scheduler="nemutator") in brain.nodes
