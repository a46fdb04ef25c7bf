"""A node says that it has more CPU than it has: on a real API server a pod is scheduled that did not fit, and without the policy the
node has again what its kubelet says."""

import base64
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from nemutator_common.wire import Batch, Envelope

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import (
    REPORTS,
    Installation,
    installed,
    nemutator,
    refusals,
)
from tests.e2e.testbed.webhook import Webhook, define, standing
from tests.e2e.testbed.workloads import container, sleeping
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

OVERSELL = Path(__file__).parents[3] / "deploy" / "oversell" / "oversell.yaml"
LABEL, RATIO, RAW = (f"nemutator.io/{word}" for word in ("oversell", "oversell-ratio", "raw-cpu"))
POOL = "test.nemutator.io/oversell"
BESIDE = "nemutator-oversell-beside"
AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "50"}
CORES = 4_000
PATIENCE_S = 300

Json = dict[str, Any]


def manifests(namespace: str, webhook: Webhook) -> Iterator[Json]:
    """Those of deploy/oversell, and its webhook once more for a process beside the cluster."""
    for document in yaml.safe_load_all(OVERSELL.read_text()):
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
        yield document
        if document["kind"] == "MutatingWebhookConfiguration":
            beside: Json = json.loads(json.dumps(document))
            # Not the name that a brain knows: it would have its own authority trusted there.
            beside["metadata"]["name"] = BESIDE
            [entry] = beside["webhooks"]
            path = entry["clientConfig"]["service"]["path"]
            bundle = base64.b64encode(webhook.authority.certificate.encode()).decode()
            url = f"https://{LOOPBACK}:{webhook.port}{path}"
            entry["clientConfig"] = {"url": url, "caBundle": bundle}
            # Of a machine that is busy with other tests the second of the manifest is too much to ask.
            entry["timeoutSeconds"] = 20
            yield beside


@dataclass(frozen=True)
class Oversold:
    brain: Installation
    node: str
    kubelet: Path
    """Its certificate and key."""
    agent: str

    def get(self) -> Json:
        found: Json = self.brain.cluster.get("node", self.node)
        return found

    def millis(self) -> int:
        text: str = self.get()["status"]["allocatable"]["cpu"]
        return int(text[:-1]) if text.endswith("m") else 1_000 * int(text)

    def annotations(self) -> dict[str, str]:
        said: dict[str, str] = self.get()["metadata"].get("annotations", {})
        return {key: value for key, value in said.items() if key in (RATIO, RAW)}

    def beat(self) -> bool:
        """What its kubelet and its agent say: true, for conditions that are waited for."""
        now = time.time()
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "lastHeartbeatTime": moment}
        status = {"allocatable": AMOUNTS, "capacity": AMOUNTS, "conditions": [ready]}
        self.write_as_kubelet(status)
        machine = replace(report(now).machine, cpu_cores=0.5)
        look = Envelope(int(10 * now), replace(report(now), machine=machine))
        body = msgspec.json.encode(Batch(self.node, "e1", (look,)))
        answer = self.brain.ask(self.brain.uplink, REPORTS, token=self.agent, body=body)
        assert answer.status == 200, answer.body
        return True

    def write_as_kubelet(self, status: Json) -> None:
        """kubectl would read the status first, which no kubelet may."""
        cluster = self.brain.cluster
        context = ssl.create_default_context(cafile=str(cluster.ca_file))
        context.load_cert_chain(self.kubelet)
        connection = HTTPSConnection(LOOPBACK, cluster.port, timeout=60, context=context)
        with closing(connection):
            connection.request(
                "PATCH",
                f"/api/v1/nodes/{self.node}/status",
                body=json.dumps({"status": status}),
                headers={"Content-Type": "application/strategic-merge-patch+json"},
            )
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()

    def write(self, status: Json) -> None:
        """Anybody else."""
        patch = json.dumps({"status": status})
        self.brain.cluster.kubectl(
            "patch", "node", self.node, "--subresource=status", "--patch", patch
        )

    def row(self, folder: Path, *words: str) -> list[str]:
        viewer = self.brain.token("viewer", audience="")
        shown = nemutator(self.brain, viewer, folder, "oversell", *words)
        assert shown.returncode == 0, shown
        rows = [line.split() for line in shown.stdout.splitlines() if line.startswith(self.node)]
        # There is none until the brain has looked at the node once.
        return rows[0] if rows else []


@pytest.fixture
def oversold(cluster: Cluster, tmp_path: Path) -> Iterator[Oversold]:
    define(cluster)
    for plural in ("seasonpolicies", "nodeoversells"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    on = {"NEMUTATOR_BRAIN_OVERSELL_NODES": "5", "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": "2"}
    (tmp_path / "brain").mkdir()
    (tmp_path / "admission").mkdir()
    with (
        standing(cluster, tmp_path / "admission") as webhook,
        new_namespace(cluster, "oversell") as name,
    ):
        cluster.apply(*manifests(name, webhook))
        with installed(cluster, name, tmp_path / "brain", **on) as brain:
            node, _ = brain.nodes
            kubelet = tmp_path / "kubelet.pem"
            client = cluster.authority.client(f"system:node:{node}", ["system:nodes"])
            kubelet.write_text(client.both)
            cluster.kubectl("label", "node", node, f"{POOL}={name}")
            brain.pod("agent", node, "nemutator-agent")
            agent = brain.token("nemutator-agent", pod="agent")
            yield Oversold(brain, node, kubelet, agent)
            cluster.kubectl("delete", "nodeoversell", "--all")
    for kind in ("mutatingwebhookconfiguration", "clusterrole", "clusterrolebinding"):
        named = [BESIDE, "nemutator-oversell"] if kind[0] == "m" else ["nemutator-brain-oversell"]
        cluster.kubectl("delete", kind, *named)


def decisions(oversold: Oversold, token: str) -> list[Json]:
    """About the node, the newest first."""
    path = "/api/v1/mutations?limit=50"
    shown = oversold.brain.ask(oversold.brain.console, path, token=token)
    assert shown.status == 200, shown
    return [one for one in shown.json["items"] if one["subject"]["name"] == oversold.node]


def policy(name: str, mode: str) -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "NodeOversell",
        "metadata": {"name": name},
        "spec": {
            "nodeSelector": {"matchLabels": {POOL: name}},
            "maxCPURatio": 1.1,
            "mode": mode,
        },
    }


@pytest.mark.timeout(900)  # a brain, a webhook and a scheduler, on a machine that may be busy
def test_a_pod_fits_that_did_not_and_the_node_is_itself_again_without_the_policy(
    oversold: Oversold, cluster: Cluster, tmp_path: Path
) -> None:
    name, node = oversold.brain.namespace, oversold.node
    here = f"--namespace={name}"

    def holds(condition: Any, what: str) -> None:
        until(lambda: oversold.beat() and condition(), what, within_s=PATIENCE_S)

    def pod(called: str, cpu: str) -> None:
        asked = container(resources={"requests": {"cpu": cpu, "memory": "16Mi"}})
        cluster.apply(sleeping(called, name, nodeSelector={POOL: name}, containers=[asked]))

    def place(called: str) -> str:
        found: str = cluster.get("pod", called, here)["spec"].get("nodeName", "")
        return found

    holds(lambda: not oversold.get()["spec"].get("taints"), "the node is ready")
    pod("first", "3900m")
    pod("second", "300m")
    holds(lambda: place("first") == node, "the first pod has a place")

    cluster.apply(policy(name, "Preview"))
    holds(lambda: "Preview" in oversold.row(tmp_path), "it is said what would be")
    holds(lambda: oversold.row(tmp_path)[6:7] == ["1.10"], "its use is known")
    cluster.apply(policy(name, "Apply"))
    holds(lambda: "label" in oversold.row(tmp_path), "the node has not opted in")
    assert (oversold.annotations(), oversold.millis(), place("second")) == ({}, CORES, "")

    cluster.kubectl("label", "node", node, f"{LABEL}=enabled")
    holds(lambda: oversold.millis() == 4_400, "the node says that it has more")
    assert oversold.annotations() == {RATIO: "1.10", RAW: "4"}
    holds(lambda: place("second") == node, "the pod that did not fit has a place")
    # Who sends back what stands there, or forges more, changes nothing.
    oversold.write({"allocatable": AMOUNTS | {"cpu": "4400m"}})
    oversold.write({"allocatable": AMOUNTS | {"cpu": "64"}})
    oversold.beat()
    assert (oversold.millis(), oversold.annotations()[RAW]) == (4_400, "4")
    assert oversold.get()["status"]["capacity"]["cpu"] == "4"
    assert oversold.get()["status"]["allocatable"]["memory"] == "8Gi"

    def status() -> Json:
        found: Json = cluster.get("nodeoversell", name).get("status", {})
        return found

    holds(lambda: status().get("nodes", [{}])[0].get("ratio") == "1.10", "its status says so")

    # A person takes it back, whatever runs there, and lets it rise again.
    cluster.kubectl(
        "create", "clusterrolebinding", f"operator-{name}",
        f"--clusterrole=nemutator-operator-{name}", f"--serviceaccount={name}:viewer",
    )  # fmt: skip
    viewer = oversold.brain.token("viewer", audience="")
    newest = decisions(oversold, viewer)[0]["id"]

    def taken_back() -> bool:
        done = nemutator(oversold.brain, viewer, tmp_path, "rollback", newest, "--yes")
        print(done.stdout, done.stderr)
        return done.returncode == 0

    # A brain that has just started waits for replicas of admission first.
    until(taken_back, "it is taken back", within_s=PATIENCE_S)
    assert (oversold.millis(), oversold.annotations()) == (CORES, {})
    holds(lambda: "back;" in oversold.row(tmp_path), "it does not rise again")
    words = ("tombstones", "--forget", "--workload", f"Node/{node}")
    forgot = nemutator(oversold.brain, viewer, tmp_path, *words)
    cluster.kubectl("delete", "clusterrolebinding", f"operator-{name}")
    assert forgot.returncode == 0, forgot
    holds(lambda: oversold.millis() == 4_400, "it rises again")

    # What lowers it stops at what runs there.
    spec = {"spec": {"maxCPURatio": 1.0}}
    cluster.kubectl("patch", "nodeoversell", name, "--type=merge", "--patch", json.dumps(spec))
    holds(lambda: "requests" in oversold.row(tmp_path), "what runs there holds it up")
    # 3.9 and 0.3 cores.
    holds(lambda: oversold.millis() == 4_200, "it is no more than that")

    cluster.kubectl("delete", "nodeoversell", name)
    until(lambda: oversold.millis() == CORES, "without kubelet's help", within_s=PATIENCE_S)
    assert oversold.annotations() == {}
    assert place("second") == node
    edits = [
        (one["edits"][0]["before"], one["edits"][0]["after"]) for one in decisions(oversold, viewer)
    ]
    # Up twice, down to what runs there, and away.
    assert edits == [(["1.05"], []), (["1.10"], ["1.05"]), ([], ["1.10"]), ([], ["1.10"])]
    ours = cluster.get("mutatingwebhookconfiguration", "nemutator-oversell")["webhooks"]
    assert ours[0]["clientConfig"].get("caBundle"), "the brain has its authority trusted there"
    assert refusals(oversold.brain) == []
