"""The mount process with a real kubelet, real mounts, and real pods that would be each other."""

import base64
import contextlib
import json
import math
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nemutator_agent.identity.attestors import PodAttestor
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Hold, by_connection, by_number, open_peer
from nemutator_agent.identity.pods import find_pods_root
from nemutator_common import names

from tests.e2e.testbed.credentials_stand_in import StandIn, standing_in
from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.processes import own_memory
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.namespace import Namespace
from tests.testbed.parts.node.node import Node
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[3]
ANON_KIB = 24 << 10
"""Design §4, of memory that is its own."""

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

# Joins control groups, connects, says so, and stays until it is told to go.
CALLER = """
import os, socket, sys
for group in sys.argv[1:]:
    with open(group + "/cgroup.procs", "w") as procs:
        procs.write(str(os.getpid()))
connection = socket.socket(socket.AF_UNIX)
connection.connect("agent.sock")
print("connected", flush=True)
sys.stdin.read()
"""


@dataclass
class Driver:
    cluster: Cluster
    node: Node
    desk: Path
    daemon: Daemon | None = None

    def start(self) -> None:
        name = f"mount-{secrets.token_hex(3)}"
        command = [
            sys.executable, "-m", "nemutator_agent", "mount", "--log-format=json",
            f"--kubelet-root={self.node.kubelet_root}", f"--node={self.node.name}",
            f"--credentials={self.desk}",
        ]  # fmt: skip
        daemon = self.cluster.run.started(
            name,
            Namespace.of(self.node.kubelet.daemon.pid, *command),
            environment={"PYTHONPATH": f"{REPOSITORY}/agent:{REPOSITORY}/common"},
        )
        daemon.wait_until(lambda: "registered_with_kubelet" in daemon.said(), within_s=60)
        self.daemon = daemon

    def said(self) -> str:
        assert self.daemon is not None
        return self.daemon.log.read_text()

    def anonymous_kib(self) -> int:
        assert self.daemon is not None
        return own_memory(self.daemon.pid) >> 10

    def mounted(self) -> list[str]:
        """Our mounts on the node."""
        table = Path("/proc", str(self.node.kubelet.daemon.pid), "mountinfo").read_text()
        return [line for line in table.splitlines() if " - tmpfs nemutator " in line]


@pytest.fixture
def credentials(node: Node, tmp_path: Path) -> Iterator[StandIn]:
    with standing_in(node, tmp_path / "c.sock") as stand_in:
        yield stand_in


@pytest.fixture
def driver(
    cluster: Cluster, node: Node, credentials: StandIn, namespace: str, tmp_path: Path
) -> Iterator[Driver]:
    cluster.apply(_csi_driver())
    driver = Driver(cluster, node, tmp_path / "c.sock")
    driver.start()
    yield driver
    assert driver.daemon is not None
    # Without their driver pods could not end.
    cluster.kubectl("delete", "pods", "--all", f"--namespace={namespace}", within_s=90)
    until(lambda: driver.mounted() == [], "nothing is mounted any more", within_s=60)
    driver.daemon.stop()
    cluster.kubectl("delete", "csidriver", names.CSI_DRIVER)


def _csi_driver() -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": str(names.CSI_DRIVER)},
        "spec": {
            "attachRequired": False,
            "podInfoOnMount": True,
            "fsGroupPolicy": "None",
            "volumeLifecycleModes": ["Ephemeral"],
            "tokenRequests": [{"audience": str(names.VAULT_AUDIENCE), "expirationSeconds": 3600}],
            "serviceAccountTokenInSecrets": True,
            "requiresRepublish": True,
        },
    }


def _pod(name: str, namespace: str) -> dict[str, Any]:
    attributes = {"secret.db": "secret/app/db#password"}
    volume = {
        "name": "nemutator",
        "csi": {"driver": str(names.CSI_DRIVER), "volumeAttributes": attributes},
    }
    mounting = container(volumeMounts=[{"name": "nemutator", "mountPath": names.POD_DIRECTORY}])
    return sleeping(name, namespace, containers=[mounting], volumes=[volume])


def _claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    )
    return claims


def _uid(cluster: Cluster, name: str, namespace: str) -> str:
    uid: str = cluster.get("pod", name, f"--namespace={namespace}")["metadata"]["uid"]
    return uid


def test_a_pods_volume_lives_with_the_pod(
    cluster: Cluster, driver: Driver, credentials: StandIn, namespace: str
) -> None:
    where = f"--namespace={namespace}"

    def inside(*command: str) -> str:
        return cluster.kubectl("exec", "web", where, "--", *command)

    cluster.apply(_pod("web", namespace))
    wait_ready(cluster, namespace, "pod/web")
    volume, first = credentials.published("web")[0]
    uid = _uid(cluster, "web", namespace)
    assert first["pod"] == {
        "namespace": namespace, "name": "web", "uid": uid, "service_account": "default",
    }  # fmt: skip
    assert first["attributes"] == {"secret.db": "secret/app/db#password"}
    claims = _claims(first["tokens"]["vault"])
    assert claims["aud"] == ["vault"]
    assert claims["kubernetes.io"]["pod"] == {"name": "web", "uid": uid}

    # What the pod has: a socket for everybody, a place for files, and not too much of it.
    assert inside("ls", "-l", "/run/nemutator/agent.sock").startswith("srw-rw-rw-")
    assert inside("ls", "-ld", "/run/nemutator/secrets").startswith("drwxrwxrwt")
    inside("sh", "-c", "echo x > /run/nemutator/secrets/x")
    flags = inside("grep", " /run/nemutator ", "/proc/mounts").split()[3].split(",")
    assert {"nosuid", "nodev", "noexec", "size=1024k"} <= set(flags)
    filling = "dd if=/dev/zero of=/run/nemutator/secrets/big bs=1024 count=2048 2>&1 || rm -f $_"
    assert "No space left" in inside("sh", "-c", f"{filling}; rm -f /run/nemutator/secrets/big")

    # Kubelet comes again, and nothing is mounted twice.
    until(lambda: len(credentials.published("web")) > 2, "it was published again", within_s=90)
    assert len(driver.mounted()) == 2, "the volume's own directory, and the pod's"
    assert driver.said().count("volume_published") == 1
    print(f"published {len(credentials.puts)} times; {driver.anonymous_kib()} KiB anonymous")
    assert driver.anonymous_kib() <= ANON_KIB

    # No token is anywhere but in the call.
    directory = driver.node.seen(Path(first["directory"]["path"]))
    records = directory.parents[1] / "records"
    record = (records / f"{volume}.json").read_text()
    token = first["tokens"]["vault"]
    assert uid in record
    assert token not in record + driver.said()

    cluster.kubectl("delete", "pod", "web", where, within_s=60)
    until(lambda: credentials.deletes == [volume], "credentials know that it ended", within_s=60)
    until(lambda: driver.mounted() == [], "nothing is mounted any more", within_s=60)
    assert [*directory.parent.iterdir(), *records.iterdir()] == []


def test_either_side_may_be_killed_and_the_pod_keeps_what_it_has(
    cluster: Cluster, driver: Driver, credentials: StandIn, namespace: str
) -> None:
    cluster.apply(_pod("web", namespace))
    wait_ready(cluster, namespace, "pod/web")
    (volume, first), *_ = credentials.published("web")

    credentials.restart()
    until(lambda: credentials.published("web"), "it was told again", within_s=60)
    assert credentials.published("web")[0] == (volume, first), "with the token that it has"

    assert driver.daemon is not None
    driver.daemon.kill()
    credentials.restart()
    mounted = driver.mounted()
    driver.start()
    until(lambda: credentials.published("web"), "another life of it knows the volume", within_s=60)
    assert credentials.published("web")[0] == (volume, first | {"tokens": {}})
    until(
        lambda: "vault" in credentials.published("web")[-1][1]["tokens"],
        "kubelet has brought the token again",
        within_s=120,
    )
    assert driver.mounted() == mounted

    # An end that nobody hears of is told later.
    driver.daemon.kill()
    cluster.kubectl("delete", "pod", "web", f"--namespace={namespace}", "--wait=false")
    driver.start()
    until(lambda: volume in credentials.deletes, "the end was told", within_s=90)
    until(lambda: driver.mounted() == [], "nothing is mounted any more", within_s=60)


@contextlib.contextmanager
def calling(directory: Path, groups: list[Path]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", CALLER, *map(str, groups)],
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "connected\n"
        yield process
    finally:
        process.kill()
        with process:
            process.wait(timeout=60)


@dataclass
class Doors:
    node: Node
    credentials: StandIn
    witness: PodAttestor

    def admits(self, pod: str, uid: str, groups: list[Path], hold: Hold) -> str:
        """Whether a process in these groups may speak at the pod's socket: `yes`, or the step."""
        volume, publication = self.credentials.published(pod)[0]
        directory = self.node.seen(Path(publication["directory"]["path"]))
        with calling(directory, groups) as caller:
            connection, _ = self.credentials.listeners[volume].accept()
            with connection:
                return self._judge(connection, uid, hold, caller.pid)

    def _judge(self, connection: socket.socket, uid: str, hold: Hold, pid: int) -> str:
        peer = open_peer(connection, hold=hold, connected_after=math.inf)
        try:
            assert peer.pid == pid
            self.witness.admit(peer.facts(), uid)
        except AttestationError as refused:
            return refused.step
        finally:
            peer.close()
        return "yes"


@pytest.mark.parametrize("hold", [by_connection, by_number])
def test_no_process_is_taken_for_another_pods(
    cluster: Cluster,
    driver: Driver,
    credentials: StandIn,
    node: Node,
    namespace: str,
    hold: Hold,
) -> None:
    for name in ("mine", "victim"):
        cluster.apply(_pod(name, namespace))
    uids = {}
    for name in ("mine", "victim"):
        wait_ready(cluster, namespace, f"pod/{name}")
        uids[name] = _uid(cluster, name, namespace)
    own = Path("/proc/self/cgroup").read_text()
    doors = Doors(node, credentials, PodAttestor(find_pods_root(own, f"{node.cgroup}/kubepods")))
    mine = node.cgroups_of(uids["mine"], "app")
    victims = node.cgroups_of(uids["victim"], "app")
    assert doors.admits("mine", uids["mine"], mine, hold) == "yes"
    assert doors.admits("victim", uids["victim"], victims, hold) == "yes"

    # From my pod, from no pod, and from both at once.
    assert doors.admits("victim", uids["victim"], mine, hold) == "other pod"
    assert doors.admits("victim", uids["victim"], [], hold) == "position"
    roots = {path: path.relative_to("/sys/fs/cgroup").parts[0] for path in [*mine, *victims]}
    split = [
        *(path for path in victims if roots[path] == "memory"),
        *(path for path in mine if roots[path] != "memory"),
    ]
    if len(mine) > 1:  # only version 1 has several hierarchies
        assert doors.admits("victim", uids["victim"], split, hold) == "hierarchies"

    # Nested below my own group, called as the victim's is.
    below = f"kubepods/besteffort/pod{uids['victim']}/{'c' * 64}"
    nested = [path / below for path in mine]
    try:
        for path in nested:
            _make_group(path)
        refused = doors.admits("victim", uids["victim"], nested, hold)
        assert refused in {"other pod", "hierarchies"}
    finally:
        for path in nested:
            _remove_group(path, below)


def _make_group(path: Path) -> None:
    for level in (*reversed(path.parents), path):
        if not level.exists():
            level.mkdir()
            for name in ("cpuset.cpus", "cpuset.mems"):
                # Of version 1: a new group has none, and takes no process before it has some.
                if (level / name).exists() and "cpuset" in path.parts:
                    (level / name).write_text((level.parent / name).read_text())


def _remove_group(path: Path, below: str) -> None:
    """A process that has just ended is in it for a moment."""
    for level in (path, *path.parents[: len(Path(below).parts) - 1]):
        until(partial(_is_removed, level), f"{level} is gone", within_s=60)


def _is_removed(path: Path) -> bool:
    with contextlib.suppress(OSError):
        path.rmdir()
    return not path.exists()
