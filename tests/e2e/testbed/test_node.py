"""The node is real: pods run on it with addresses, logs and exec, and leave nothing when killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.workloads import container, replicated, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.namespace import KERNEL_SETTINGS
from tests.testbed.parts.node.node import Node
from tests.testbed.running import leftovers
from tests.testbed.running.run import running
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[3]
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
    (pid,) = node.pids_of(uid, "app")
    assert Path("/proc", str(pid), "cmdline").read_bytes() == b"sleep\x00600\x00"
    membership = Path("/proc", str(pid), "cgroup").read_text()
    assert f"{node.cgroup}/kubepods/besteffort/pod{uid}/" in membership
    assert {one.name for one in node.containers() if one.pod_uid == uid} == {"app", ""}
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


ANOTHER_RUN = """
import sys
from tests.e2e.testbed.workloads import sleeping, wait_ready
from tests.testbed.parts import control_plane
from tests.testbed.parts.node import node
from tests.testbed.running.run import running

with running() as run:
    cluster = control_plane.begin(run)
    node.begin(cluster)
    cluster.apply(sleeping("lost", "default"))
    wait_ready(cluster, "default", "pod/lost")
    print(run.directory, flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Left:
    """What is on the machine of a run."""

    processes: frozenset[int]
    cgroups: frozenset[Path]
    interfaces: frozenset[str]


def left_of(directory: Path) -> Left:
    bridge = leftovers.bridge_of(directory.name)
    ports = Path("/sys/class/net", bridge, "brif")
    groups = leftovers.cgroups(directory.name)
    return Left(
        processes=frozenset([*leftovers.marked(directory), *leftovers.members(groups)]),
        cgroups=frozenset(groups),
        interfaces=frozenset({bridge, *os.listdir(ports)}),
    )


def is_alive(pid: int) -> bool:
    """Whether it has memory still: one that nobody has reaped yet is a number alone."""
    try:
        return bool(Path("/proc", str(pid), "cmdline").read_bytes())
    except OSError:
        return False


def daemons_of(directory: Path) -> list[str]:
    """Programs that it has started itself, and that are still there."""
    found = []
    for pid in leftovers.marked(directory):
        with suppress(OSError):
            found.append(Path("/proc", str(pid), "comm").read_text().strip())
    return [name for name in found if name in {"kube", "containerd"}]


@contextmanager
def another_run() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """One with a pod on its own node, beside the one of this session."""
    with subprocess.Popen(
        [sys.executable, "-c", ANOTHER_RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


@pytest.mark.timeout(180)  # a second control plane with a second node
def test_what_a_killed_run_leaves_of_its_node_goes_with_the_next(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    cluster.apply(sleeping("neighbour", namespace))
    wait_ready(cluster, namespace, "pod/neighbour")
    with another_run() as (process, directory):
        assert directory.is_relative_to(leftovers.runs_directory())
        process.kill()
        process.wait()
        # Its daemons die with it, its containers do not.
        until(lambda: not daemons_of(directory), "its daemons died with it", within_s=20)
        left = left_of(directory)
        assert len(left.interfaces) == 2
        assert len(left.processes) >= 3  # a shim, its sandbox, its container
    with running():
        assert not directory.exists()
    assert not [pid for pid in left.processes if is_alive(pid)]
    assert not [path for path in left.cgroups if path.exists()]
    assert not left.interfaces & set(os.listdir("/sys/class/net"))
    # The living one has not been taken for a dead one.
    uid = cluster.get("pod", "neighbour", f"--namespace={namespace}")["metadata"]["uid"]
    assert node.pids_of(uid, "app")
    assert node.is_ready()
