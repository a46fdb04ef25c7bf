"""The node is real: its pods have addresses, logs, exec, processes, and mounts of their own."""

import json
import os
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.workloads import container, replicated, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.namespace import KERNEL_SETTINGS
from tests.testbed.parts.node.network import filtered
from tests.testbed.parts.node.node import Node

PORT = 8080
SERVING = f"echo serving; hostname > /tmp/index.html; exec httpd -f -p {PORT} -h /tmp"

# The first test that asks for it starts a control plane and a node.
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def web(cluster: Cluster, node: Node, namespace: str) -> list[dict[str, Any]]:
    """Two pods of a Deployment that serve their name, which kubelet has asked them for."""
    probe = {"httpGet": {"port": PORT}, "periodSeconds": 1}
    deployment = replicated("web", namespace, 2)
    deployment["spec"]["template"]["spec"]["containers"] = [
        container(command=["sh", "-c", SERVING], readinessProbe=probe)
    ]
    cluster.apply(deployment)
    wait_ready(cluster, namespace, "deployment/web")
    pods = cluster.get("pods", f"--namespace={namespace}")["items"]
    assert len(pods) == 2
    return list(pods)


def test_a_deployments_pods_have_addresses_logs_and_exec(
    cluster: Cluster, node: Node, namespace: str, web: list[dict[str, Any]]
) -> None:
    where = f"--namespace={namespace}"
    addresses = {pod["status"]["podIP"] for pod in web}
    assert len(addresses) == 2
    assert all(IPv4Address(address) in node.network.subnet for address in addresses)
    for pod in web:
        name = pod["metadata"]["name"]
        assert pod["spec"]["nodeName"] == node.name
        assert pod["status"]["phase"] == "Running"
        assert cluster.kubectl("logs", name, where) == "serving\n"
        assert cluster.kubectl("exec", name, where, "--", "hostname") == f"{name}\n"


def test_one_pod_reaches_another_and_nothing_beyond_the_node(
    cluster: Cluster, node: Node, namespace: str, web: list[dict[str, Any]]
) -> None:
    if reason := filtered():
        pytest.skip(reason)
    one, other = web
    in_one = ("exec", one["metadata"]["name"], f"--namespace={namespace}", "--")
    url = f"http://{other['status']['podIP']}:{PORT}/"
    answered = cluster.kubectl(*in_one, "wget", "-q", "-O-", url)
    assert answered == f"{other['metadata']['name']}\n"
    (route,) = cluster.kubectl(*in_one, "ip", "route").splitlines()
    assert route.startswith(f"{node.network.subnet} dev eth0 ")


def test_what_runs_in_a_container_is_known_by_pid_and_cgroup(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    cluster.apply(sleeping("sleeper", namespace))
    wait_ready(cluster, namespace, "pod/sleeper")
    uid = cluster.get("pod", "sleeper", f"--namespace={namespace}")["metadata"]["uid"]
    processes = [Path("/proc", str(pid)) for pid in node.pids_of(uid, "app")]
    commands = {process.joinpath("cmdline").read_bytes() for process in processes}
    assert commands >= {b"sleep\x00600\x00"}
    for process in processes:
        membership = process.joinpath("cgroup").read_text()
        assert f"{node.cgroup}/kubepods/besteffort/pod{uid}/" in membership
    assert {one.name for one in node.containers() if one.pod_uid == uid} == {"app", ""}
    status, body = node.ask("/stats/summary")
    assert status == 200
    assert uid in {pod["podRef"]["uid"] for pod in json.loads(body)["pods"]}
    cluster.kubectl("delete", "pod", "sleeper", f"--namespace={namespace}", within_s=60)
    assert node.pids_of(uid, "app") == set()


def test_the_nodes_mounts_and_settings_are_not_the_machines(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    cluster.apply(sleeping("mounting", namespace))
    wait_ready(cluster, namespace, "pod/mounting")
    uid = cluster.get("pod", "mounting", f"--namespace={namespace}")["metadata"]["uid"]
    volumes = node.kubelet_root / "pods" / uid / "volumes" / "kubernetes.io~projected"
    assert list(node.seen(volumes).glob("*/token"))
    assert not list(volumes.glob("*/token"))
    assert str(node.cluster.run.directory) not in Path("/proc/self/mountinfo").read_text()
    log = f"mounting_{namespace}_app-"
    assert [name for name in os.listdir(node.seen(Path("/var/log/containers"))) if log in name]
    machines = Path("/var/log/containers")
    assert not machines.exists() or not [name for name in os.listdir(machines) if log in name]
    for name, wanted in KERNEL_SETTINGS.items():
        seen = node.seen(Path("/proc/sys", name))
        assert seen.read_text() == f"{wanted}\n"
        assert not Path("/proc/sys", name).samefile(seen)
