"""A containerd of the run's own: its configuration, its start, and what `ctr` can tell of it."""

import json
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed.building import made, unpacked
from tests.testbed.parts import images
from tests.testbed.parts.node.namespace import Namespace
from tests.testbed.parts.node.network import Network
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.run import Run
from tests.testbed.running.waiting import until

READY_S = 60.0
CALL_S = 600.0
"""To unpack an image of 100 MB takes a busy disk minutes."""
# Labels that kubelet and containerd's CRI plugin put on containers and images.
POD_UID = "io.kubernetes.pod.uid"
CONTAINER = "io.kubernetes.container.name"
KIND = "io.cri-containerd.kind"
SEEN_BY_KUBELET = "io.cri-containerd.image"


class CtrError(Exception):
    """ctr has refused or failed; what it said."""


@dataclass(frozen=True, slots=True)
class Container:
    """One that containerd knows, running or ended."""

    id: str
    pod_uid: str
    name: str
    """As the pod's specification names it; empty for the sandbox."""


@dataclass(frozen=True, slots=True)
class Containerd:
    run: Run
    socket: Path
    daemon: Daemon

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive whose image names itself; a container may use it from then on."""
        before = set(self._images())
        self.ctr("images", "import", str(archive))
        # Until then kubelet says that the image is not there, and looks again 10 s later.
        until(
            lambda: all(SEEN_BY_KUBELET in line for line in self._images() if line not in before),
            f"containerd shows kubelet what is in {archive.name}",
            within_s=CALL_S,
        )

    def _images(self) -> list[str]:
        return self.ctr("images", "ls").splitlines()[1:]

    def containers(self) -> list[Container]:
        """Those of pods, with the sandboxes."""
        return list(map(_container, self._known()))

    def ids(self, pod_uid: str, container: str) -> list[str]:
        """Of a pod's container: one for each time that it was started, in no order."""
        wanted = f'labels."{POD_UID}"=={pod_uid},labels."{CONTAINER}"=={container}'
        return self.ctr("containers", "ls", "--quiet", wanted).split()

    def tasks(self) -> list[str]:
        """Containers whose process is there, ended or not."""
        return self.ctr("tasks", "ls", "--quiet").split()

    def _known(self) -> Iterator[dict[str, Any]]:
        for container_id in self.ctr("containers", "ls", "--quiet").split():
            try:
                yield json.loads(self.ctr("containers", "info", container_id))
            except CtrError as error:
                if "not found" not in str(error):  # it may have gone since it was listed
                    raise

    def ctr(self, *arguments: str) -> str:
        """What it prints."""
        root = made.debian("node")
        ran = subprocess.run(
            [
                unpacked.program(root, "ctr"),
                f"--address={self.socket}",
                "--namespace=k8s.io",
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
            env={**unpacked.environment(root), **self.run.mark},
        )
        if ran.returncode != 0:
            raise CtrError(f"ctr {' '.join(arguments)}: {ran.stderr or ran.stdout}")
        return ran.stdout


def _container(known: dict[str, Any]) -> Container:
    labels = known["Labels"]
    return Container(known["ID"], labels[POD_UID], labels.get(CONTAINER, ""))


def begin(run: Run, folder: Path, namespace: Namespace, network: Network) -> Containerd:
    """Start it in *namespace* and give it the images of sandboxes and of small pods."""
    root = made.debian("node")
    plugins = folder / "cni"
    plugins.mkdir()
    (plugins / "10-bridge.conflist").write_text(network.cni(folder / "leases"))
    file = folder / "containerd.toml"
    file.write_text(
        configuration(
            folder,
            plugins,
            programs=root,
            may_lower_score=may_lower_score(Path("/proc/self/status").read_text()),
        )
    )
    address = folder / "containerd.sock"
    daemon = run.daemon(
        "containerd",
        namespace.new(unpacked.program(root, "containerd"), f"--config={file}"),
        environment=unpacked.environment(root),
        ready=lambda: _listens(address),
        within_s=READY_S,
    )
    containerd = Containerd(run, address, daemon)
    busybox = unpacked.program(root, "busybox")
    containerd.import_image(images.pause(busybox, folder / "pause.tar"))
    containerd.import_image(images.busybox(busybox, folder / "busybox.tar"))
    return containerd


def configuration(folder: Path, plugins: Path, *, programs: Path, may_lower_score: bool) -> str:
    """Everything of it in *folder*; the machine's AppArmor and NRI stay out of it."""
    # JSON's strings and booleans are TOML's.
    said = {name: json.dumps(str(folder / name)) for name in ("root", "state", "opt")}
    return f"""\
version = 2
root = {said["root"]}
state = {said["state"]}
[grpc]
address = {json.dumps(str(folder / "containerd.sock"))}
[debug]
address = {json.dumps(str(folder / "debug.sock"))}
[plugins."io.containerd.internal.v1.opt"]
path = {said["opt"]}
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{images.PAUSE}"
# Its profile would be loaded into the kernel, and stay there.
disable_apparmor = true
netns_mounts_under_state_dir = true
# Without CAP_SYS_RESOURCE nobody may be made less likely to be killed than before: each sandbox
# would fail, with no word about the reason.
restrict_oom_score_adj = {json.dumps(not may_lower_score)}
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = {json.dumps(str(programs / "usr/lib/cni"))}
conf_dir = {json.dumps(str(plugins))}
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = {json.dumps(str(unpacked.program(programs, "runc")))}
"""


def may_lower_score(status: str) -> bool:
    """Whether /proc/PID/status shows CAP_SYS_RESOURCE (24, capabilities(7)) as effective."""
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 24 & 1)
    return False


def _listens(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(address)) == 0
