"""A real node for the run's control plane: containerd, runc, kubelet, CNI, real cgroups.

Nothing of an engine or a kubelet of the machine itself is touched: mounts are in a namespace of
the node's own, cgroups below one of the run, and pods on a bridge that leads nowhere.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed.building import made
from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts.asking import ask
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node import cgroups, containerd, kubelet, namespace, network
from tests.testbed.parts.node.containerd import Container, Containerd
from tests.testbed.parts.node.kubelet import NAME, Kubelet
from tests.testbed.parts.node.namespace import Namespace
from tests.testbed.parts.node.network import Network
from tests.testbed.running import leftovers
from tests.testbed.running.waiting import until

READY_S = 60.0
EMPTY_S = 60.0
CALL_S = 120.0


@dataclass(frozen=True, slots=True)
class Node:
    cluster: Cluster
    network: Network
    containerd: Containerd
    kubelet: Kubelet
    cgroup: str
    """Above those of all its pods, as /proc/PID/cgroup names it."""
    kubelet_root: Path
    """As hostPath volumes of pods name it; mounts in it are seen through `seen`."""

    name: str = NAME
    emulated: bool = False

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive whose image names itself; pods take it with imagePullPolicy Never."""
        self.containerd.import_image(archive)

    def containers(self) -> list[Container]:
        """All that containerd knows, the pods' sandboxes too."""
        return self.containerd.containers()

    def cgroups_of(self, pod_uid: str, container: str) -> list[Path]:
        """Folders of a running container's cgroups, in all hierarchies."""
        ids = set(self.containerd.ids(pod_uid, container))
        return [path for path in leftovers.cgroups(self.cluster.run.id) if path.name in ids]

    def pids_of(self, pod_uid: str, container: str) -> set[int]:
        """Processes of a container, in numbers of the machine."""
        return set(leftovers.members(self.cgroups_of(pod_uid, container)))

    def signal(self, pod_uid: str, container: str, name: str) -> None:
        """Send the signal of that name (KILL) to all processes of a running container."""
        for pid in self.pids_of(pod_uid, container):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.Signals[f"SIG{name}"])

    def python(self, program: str, *arguments: str | Path) -> str:
        """What a program prints that runs on the node, in no pod, and sees its mounts."""
        command = Namespace.of(self.kubelet.daemon.pid, sys.executable, "-", *arguments)
        return subprocess.run(
            command, input=program, capture_output=True, text=True, timeout=CALL_S, check=True
        ).stdout

    def expose(self, ports: Iterable[int]) -> None:
        """Nothing has to be done: its loopback is ours."""

    def reach(self, port: int) -> None:
        """Nothing here either."""

    def seen(self, path: Path) -> Path:
        """Where this process finds what the node has at *path*: its mounts are its own."""
        return Path("/proc", str(self.kubelet.daemon.pid), "root", path.relative_to("/"))

    def ask(self, path: str) -> tuple[int, str]:
        """The administrator's GET to kubelet itself: status and body.

        The API server's own way there, nodes/proxy, leads to no loopback address.
        """
        cluster = self.cluster
        return ask(self.kubelet.port, path, ca_file=cluster.ca_file, token=cluster.admin_token)

    def is_ready(self) -> bool:
        """Whether the API shows it Ready and without a taint that keeps pods away."""
        status, body = self.cluster.ask(f"/api/v1/nodes/{self.name}")
        return status == 200 and shows_ready(json.loads(body))


def shows_ready(node: dict[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in node["status"].get("conditions", ())}
    return conditions.get("Ready") == "True" and not node["spec"].get("taints")


def begin(cluster: Cluster) -> Node:
    """Start a node in the cluster's run and return when pods can be placed on it."""
    if os.geteuid() != 0:
        raise MissingPartError("no node: it takes root to start containers; remedy: sudo")
    made.debian("node")
    run = cluster.run
    folder = run.folder("node", mode=0o711)
    root = kubelet.root_of(folder)
    root.mkdir(mode=0o755)
    space = namespace.prepare(run, folder, shared=root)
    cgroup = cgroups.make(run)
    net = network.make(run)
    engine = containerd.begin(run, folder, space, net)
    run.at_end(lambda: _evacuate(engine))
    agent = kubelet.begin(cluster, folder, engine, net, cgroup=cgroup)
    node = Node(cluster, net, engine, agent, cgroup, root)
    agent.daemon.wait_until(node.is_ready, within_s=READY_S)
    return node


def _evacuate(engine: Containerd) -> None:
    """Kill what is in all pods, and wait until containerd has seen it and let go of it."""
    for pid in leftovers.members(leftovers.cgroups(engine.run.id)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if engine.daemon.process.poll() is None:
        until(lambda: not engine.tasks(), "containerd let go of the pods", within_s=EMPTY_S)
