"""What kubelet and Prometheus make of an installation: probes, rollouts, metrics.

The last test stops every process; it comes last.
"""

import contextlib
import http.client
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names

from tests.e2e.first_light.installation import (
    METRICS,
    NAMESPACE,
    Installation,
    delete_namespaces,
    installed,
    place_on,
    said,
    uninstall,
)
from tests.e2e.first_light.manifests import AGENT
from tests.e2e.testbed.webhook import asked, asking
from tests.e2e.testbed.workloads import sleeping
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.prometheus import Prometheus
from tests.testbed.parts.vault import Vault
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1500)

TEAM = "rolls"
ROLLOUT_S = 600
RESTART_S = 600.0
SEEN_S = 300.0
"""Three probes that fail, the grace of a hung process, and its start, on a busy machine."""

CALL_S = 30.0
FEW = 20

TALKERS = "talkers"
PIECE = 1 << 16
ANSWERS = f"""\
import socket
server = socket.create_server(("", 7001))
while True:
    link, _ = server.accept()
    while link.recv(1):
        link.sendall(bytes({PIECE}))
"""
ASKS = f"""\
import socket, sys, time
link = socket.create_connection((sys.argv[1], 7001))
while True:
    link.sendall(b"?")
    left = {PIECE}
    while left:
        left -= len(link.recv(left))
    time.sleep(0.1)
"""
EXCHANGES = re.compile(r"its workload exchanges ([0-9.]+) MB/s with pods there")

SUFFIX = re.compile("_(bucket|sum|count)$")
"""Of the series of a histogram."""

CONTAINERS = {
    "agent": ("mount", "credentials", "observe"),
    "brain": ("brain",),
    "admission": ("admission",),
}


@pytest.fixture(scope="module")
def installation(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault
) -> Iterator[Installation]:
    """One of its own: processes are stopped in it."""
    place = replace(place_on(cluster, node, vault), asked_often=True)
    yield installed(cluster, node, image, vault, place)
    uninstall(cluster)


@pytest.fixture(scope="module")
def team(installation: Installation) -> Iterator[str]:
    """A namespace whose pods are injected."""
    labels = {"nemutator.io/inject": "enabled"}
    installation.cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}}
    )
    yield TEAM
    delete_namespaces(installation.cluster, TEAM)


@dataclass
class Applicant:
    """Asks for the same pod again and again, as a dry run, and counts how that ended."""

    cluster: Cluster
    namespace: str
    injected: int = 0
    others: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        pod = sleeping("applicant", self.namespace)
        pod["metadata"]["annotations"] = {"nemutator.io/secret.db": "secret/rolls/db#password"}
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        with asking(self.cluster) as connection:
            while not self.stopped.is_set():
                status, made, warning = asked(connection, self.cluster, path, pod)
                if status == http.client.CREATED and made["spec"].get("initContainers"):
                    self.injected += 1
                else:
                    self.others.append(f"{status} {warning}")


@contextlib.contextmanager
def applying(cluster: Cluster, namespace: str, *, at_once: int) -> Iterator[list[Applicant]]:
    applicants = [Applicant(cluster, namespace) for _ in range(at_once)]
    threads = [threading.Thread(target=each.run, daemon=True) for each in applicants]
    for thread in threads:
        thread.start()
    try:
        yield applicants
    finally:
        for each in applicants:
            each.stopped.set()
        for thread in threads:
            thread.join(timeout=CALL_S)


def rollout_status(cluster: Cluster, workload: str) -> None:
    try:
        cluster.kubectl(
            "rollout", "status", workload, f"--namespace={NAMESPACE}", f"--timeout={ROLLOUT_S}s",
            within_s=ROLLOUT_S + 10,
        )  # fmt: skip
    except KubectlError as error:
        raise AssertionError(f"{error}\n{said(cluster)}") from error


def pods_of(cluster: Cluster, component: str) -> list[dict[str, Any]]:
    selector = f"--selector=app.kubernetes.io/component={component}"
    return list(cluster.get("pods", f"--namespace={NAMESPACE}", selector)["items"])


def test_a_rollout_of_admission_loses_no_request(installation: Installation, team: str) -> None:
    cluster = installation.cluster
    (before,) = pods_of(cluster, "admission")
    # The new one stands beside the old one on one machine, so it needs ports of its own.
    https, metrics = free_port(), free_port()
    container = "/spec/template/spec/containers/0"
    patch = [
        {
            "op": "replace",
            "path": f"{container}/ports",
            "value": [
                {"name": "https", "containerPort": https},
                {"name": METRICS["admission"], "containerPort": metrics},
            ],
        },
        *(
            {"op": "add", "path": f"{container}/env/-", "value": {"name": name, "value": value}}
            for name, value in {
                "NEMUTATOR_ADMISSION_ADDRESS": f"0.0.0.0:{https}",
                "NEMUTATOR_ADMISSION_METRICS": f"{LOOPBACK}:{metrics}",
            }.items()
        ),
    ]
    with applying(cluster, team, at_once=2) as applicants:
        until(lambda: all(each.injected > FEW for each in applicants), "requests", within_s=SEEN_S)
        cluster.kubectl(
            "patch", "deployment/nemutator-admission", f"--namespace={NAMESPACE}",
            "--type=json", f"--patch={json.dumps(patch)}",
        )  # fmt: skip
        rollout_status(cluster, "deployment/nemutator-admission")
        until(lambda: len(pods_of(cluster, "admission")) == 1, "the old one left", within_s=SEEN_S)
        since = [each.injected for each in applicants]
        until(
            lambda: all(
                each.injected > count + FEW for each, count in zip(applicants, since, strict=True)
            ),
            "the new one answers",
            within_s=SEEN_S,
        )
    (after,) = pods_of(cluster, "admission")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    installation.ports[METRICS["admission"]] = metrics
    print("injected during the rollout:", [each.injected for each in applicants])
    assert [each.others for each in applicants] == [[], []]


def test_prometheus_reads_the_metrics_of_all_five_processes(
    installation: Installation, team: str, prometheus: Prometheus
) -> None:
    prometheus.scrape(
        *(
            {
                "job_name": role,
                "scrape_interval": "1s",
                "static_configs": [{"targets": [f"{LOOPBACK}:{installation.ports[name]}"]}],
            }
            for role, name in METRICS.items()
        )
    )
    own = {
        "brain": names.REPORTS_STORED,
        "admission": names.KUBE_OBJECTS,
        "mount": names.KUBELET_CALLS,
        "credentials": names.HTTP_REQUESTS,
        "observe": names.USAGE_SNAPSHOTS,
    }
    declared = {metric.name for metric in names.declared(names.Metric)}
    for role, metric in own.items():
        until(partial(prometheus.query, f'{metric.name}{{job="{role}"}}'), role, within_s=SEEN_S)
        found = prometheus.query(f'count by (__name__) ({{job="{role}",__name__=~"nemutator.*"}})')
        read = {SUFFIX.sub("", each["metric"]["__name__"]) for each in found}
        print(role, len(read), sorted(read))
        assert metric.name in read
        assert read <= declared


def talking(name: str, *command: str) -> dict[str, Any]:
    """A Deployment of one pod that has a Python."""
    labels = {"app": name}
    container = {
        "name": "app",
        "image": AGENT,
        "imagePullPolicy": "Never",
        "command": ["python", "-c", *command],
        "resources": {"requests": {"cpu": "20m", "memory": "32Mi"}},
    }
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": TALKERS},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


@pytest.fixture
def looker(installation: Installation) -> Iterator[str]:
    """The token of somebody who may look, in a namespace of their own; agents tell of flows meanwhile."""
    cluster = installation.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TALKERS}})
    cluster.kubectl("create", "serviceaccount", "looker", f"--namespace={TALKERS}")
    cluster.kubectl(
        "create", "clusterrolebinding", "talk-lookers", "--clusterrole=nemutator-viewer",
        f"--serviceaccount={TALKERS}:looker",
    )  # fmt: skip
    agents = cluster.get("daemonset", "nemutator-agent", f"--namespace={NAMESPACE}")
    every = agents["spec"]["template"]["spec"]["containers"]
    [observe] = [one for one in every if one["name"] == "observe"]
    capabilities = observe["securityContext"]["capabilities"]
    settings = {"NEMUTATOR_OBSERVE_FLOWS": "true", "NEMUTATOR_OBSERVE_FLOW_S": "2"}
    changed = {
        "name": "observe",
        "env": [{"name": name, "value": value} for name, value in settings.items()],
        # As docs/security.md says.
        "securityContext": {"capabilities": {"add": [*capabilities["add"], "SYS_ADMIN"]}},
    }
    patch = {"spec": {"template": {"spec": {"containers": [changed]}}}}
    cluster.kubectl(
        "patch", "daemonset/nemutator-agent", f"--namespace={NAMESPACE}",
        f"--patch={json.dumps(patch)}",
    )  # fmt: skip
    yield cluster.token(TALKERS, "looker")
    cluster.kubectl("delete", "clusterrolebinding", "talk-lookers")
    delete_namespaces(cluster, TALKERS)


def test_with_whom_a_pod_exchanges_most_counts_for_its_place(
    installation: Installation, looker: str, tmp_path: Path
) -> None:
    cluster, where = installation.cluster, f"--namespace={TALKERS}"

    def is_ready(name: str) -> None:
        cluster.kubectl(
            "rollout", "status", f"deployment/{name}", where, f"--timeout={ROLLOUT_S}s",
            within_s=ROLLOUT_S + 10,
        )  # fmt: skip

    cluster.apply(talking("cache", ANSWERS))
    is_ready("cache")
    [cache] = cluster.get("pods", "--selector=app=cache", where)["items"]
    web = talking("web", ASKS, cache["status"]["podIP"])
    cluster.apply(web)
    is_ready("web")
    rollout_status(cluster, "daemonset/nemutator-agent")

    def ends() -> set[tuple[str, str, str]]:
        flows = installation.items(f"/api/v1/flows?namespace={TALKERS}", token=looker)
        return {(one["pod"]["owner"], one["peer"]["owner"], one["direction"]) for one in flows}

    until(
        lambda: ends() >= {("web", "cache", "out"), ("cache", "web", "in")},
        "the agent tells of both sides",
        within_s=SEEN_S,
    )
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(web))

    def said() -> str:
        return installation.nemutator("place", str(manifest), "--explain", token=looker)

    until(lambda: EXCHANGES.search(said()), "it counts for the place of a pod", within_s=SEEN_S)
    told = said()
    print(told)
    found = EXCHANGES.search(told)
    assert found is not None
    # A piece in a tenth of a second at most: both sides have told of the same bytes.
    assert 0 < float(found[1]) < 1.2 * PIECE / 0.1 / 1e6


def test_a_process_that_hangs_is_started_again(installation: Installation) -> None:
    for component, containers in CONTAINERS.items():
        uid = installation.pod_of(component)["metadata"]["uid"]
        assert set(installation.restarts(component)) == set(containers)
        for container in containers:
            installation.node.signal(uid, container, "STOP")

    def restarted() -> bool:
        counts = [installation.restarts(component) for component in CONTAINERS]
        return all(count > 0 for each in counts for count in each.values())

    try:
        until(restarted, "kubelet started each of them again", within_s=RESTART_S)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{said(installation.cluster)}") from error
    for workload in ("statefulset/nemutator-brain", "daemonset/nemutator-agent"):
        rollout_status(installation.cluster, workload)
    print({component: installation.restarts(component) for component in CONTAINERS})
