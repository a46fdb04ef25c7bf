"""The cluster's node inside of a machine: containerd and kubelet as units of its systemd.

systemd makes the control groups (version 2), and all lies where it lies on most nodes. The control
plane stays outside, on loopback: ports of the machine's own loopback lead to it.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

from tests.testbed.building import made, unpacked
from tests.testbed.parts import images
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.machine import engine_disk, guest_units
from tests.testbed.parts.machine import machine as machines
from tests.testbed.parts.machine.guest_units import Engine
from tests.testbed.parts.machine.machine import Equipment, Machine
from tests.testbed.parts.node import kubelet, network
from tests.testbed.parts.node.network import Network
from tests.testbed.parts.node.node import shows_ready
from tests.testbed.running import bridges
from tests.testbed.running.ports import LOOPBACK, free_port

BROUGHT = Path("/opt/nemutator", "brought")
DEBIANS = Engine(
    containerd=BROUGHT / "programs/usr/bin",
    runc=BROUGHT / "programs/usr/sbin",
    plugins=BROUGHT / "programs/usr/lib/cni",
)
NEWEST = Engine(containerd=BROUGHT / "runtime", runc=BROUGHT / "runtime", plugins=DEBIANS.plugins)
"""Which can give a pod user numbers of its own."""

ROOT = Path("/var/lib/kubelet")
ETC = Path("/etc/kubernetes")
SYSCTL = Path("/etc/sysctl.d/90-node.conf")
SETTINGS = "kernel.perf_event_paranoid = 2\n"
"""As `docs/install.md` asks for it: Debian's kernels would let nobody sample with CAP_PERFMON alone."""
CONTAINERD = Path("/run/containerd/containerd.sock")
GROUPS = "/sys/fs/cgroup/kubepods.slice"

MEMORY_MB = 3072
DISK_MB = 768
READY_S = 900.0


@dataclass(frozen=True, slots=True)
class GuestNode:
    cluster: Cluster
    network: Network
    machine: Machine
    engine: Engine
    images: frozenset[Path]
    """Archives that it has had from its start."""
    kubelet_root: Path = ROOT
    name: str = kubelet.NAME
    emulated: bool = True

    @property
    def ctr(self) -> str:
        return f"{self.engine.containerd}/ctr --namespace=k8s.io"

    def import_image(self, archive: Path) -> None:
        """Load an OCI archive whose image names itself; pods take it with imagePullPolicy Never."""
        if archive not in self.images:
            # As a disk: an emulated CPU would take minutes to decipher it.
            self.machine.sh(f"{self.ctr} images import {self.machine.attach(archive)}")

    def expose(self, ports: Iterable[int]) -> None:
        """Lead these ports to it: of loopback, and of the address that the API server knows."""
        for port in ports:
            for address in (LOOPBACK, str(self.network.address)):
                self.machine.forward(port, address=address)

    def reach(self, port: int) -> None:
        """Lead *port* of its loopback to ours."""
        units = guest_units.proxy(port)
        for name, content in units.items():
            self.machine.write(guest_units.UNITS / name, content)
        (listener,) = (name for name in units if name.endswith(".socket"))
        self.machine.sh(f"systemctl daemon-reload && systemctl enable --now {listener}")

    def signal(self, pod_uid: str, container: str, name: str) -> None:
        """Send a signal to all processes of a running container."""
        ids = self.machine.sh(
            f"{self.ctr} containers ls --quiet"
            f' \'labels."io.kubernetes.pod.uid"=={pod_uid},'
            f'labels."io.kubernetes.container.name"=={container}\''
        ).split()
        for container_id in ids:
            scope = f"cri-containerd-{container_id}.scope"
            self.machine.sh(
                f"find {GROUPS} -path '*/{scope}*' -name cgroup.procs -exec cat {{}} +"
                f" | xargs -r kill -{name}"
            )

    def has_two_shims_for_a_pod(self) -> bool:
        """containerd before version 2 takes a shim for dead that does not answer in a tenth of a second,
        and gives the pod's next container another at the same address. After its own restart it asks that
        one about all containers of the pod, and ends those that it does not know."""
        sandboxes = self.machine.sh(
            f"{self.ctr} containers ls --quiet 'labels.\"io.cri-containerd.kind\"==sandbox'"
        )
        shims = self.machine.sh("ps -C containerd-shim -o args= || true")
        return bool(guest_units.served_by(shims) - set(sandboxes.split()))

    def python(self, program: str, *arguments: str | Path) -> str:
        """What a program prints that runs on the node, in no pod."""
        return self.machine.run("python3", "-", *arguments, given=program.encode())

    def is_ready(self) -> bool:
        """Whether the API shows it Ready and without a taint that keeps pods away."""
        status, body = self.cluster.ask(f"/api/v1/nodes/{self.name}")
        return status == 200 and shows_ready(json.loads(body))


@contextlib.contextmanager
def running(
    cluster: Cluster, kernel: str, engine: Engine, archives: Sequence[Path]
) -> Iterator[GuestNode]:
    """A node with the version *kernel* of recipes.GUEST_KERNELS, from when pods can be placed on it;
    the images of *archives* are there."""
    run = cluster.run
    net = network.make(run)
    # QEMU passes a caller's address on, and the machine has this one itself: it would take no call.
    bridges.call_from_loopback(net.bridge, net.address)
    folder = run.folder(f"guest-{kernel}")
    programs = made.debian("node")
    files = {"programs": programs, "kube": made.kube()}
    newest = {"runtime": made.runtime()} if engine is NEWEST else {}
    environment = unpacked.environment(programs)
    busybox = unpacked.program(programs, "busybox")
    disk = engine_disk.make(
        run,
        folder,
        newest.get("runtime", programs / "usr/bin"),
        environment,
        [
            images.pause(busybox, folder / "pause.tar"),
            images.busybox(busybox, folder / "busybox.tar"),
            *archives,
        ],
    )
    equipment = Equipment(
        files=files | newest,
        memory_mb=MEMORY_MB,
        disk_mb=DISK_MB,
        reaches_host=True,
        may_reboot=True,
    )
    with machines.running(run, kernel, equipment) as machine:
        node = GuestNode(cluster, net, machine, engine, frozenset(archives))
        _start(node, disk)
        machine.daemon.wait_until(node.is_ready, within_s=READY_S)
        yield node
    cluster.kubectl("delete", "node", node.name)
    bridges.remove(net.bridge)


def _start(node: GuestNode, disk: Path) -> None:
    machine, net, port = node.machine, node.network, free_port()
    node.reach(node.cluster.port)
    node.expose([port])
    machine.sh("printf '127.0.0.1 localhost\\n' > /etc/hosts")
    machine.write(SYSCTL, SETTINGS)
    machine.run("sysctl", "--quiet", f"--load={SYSCTL}")
    address = IPv4Interface((net.address, net.subnet.prefixlen))
    for name, content in guest_units.bridge(net.bridge, address).items():
        machine.write(guest_units.NETWORKS / name, content)
    machine.sh(f"chmod 644 {guest_units.NETWORKS}/* && networkctl reload")
    mount = guest_units.mount(machine.attach(disk), "/var/lib/containerd")
    machine.write(guest_units.UNITS / "var-lib-containerd.mount", mount)
    machine.write(guest_units.CNI / "10-bridge.conflist", net.cni(Path("/var/lib/cni")))
    machine.write("/etc/containerd/config.toml", guest_units.containerd_settings(node.engine))
    machine.write(
        guest_units.UNITS / "containerd.service", guest_units.containerd_unit(node.engine)
    )
    _write_kubelet(node, port)
    units = "var-lib-containerd.mount containerd kubelet"
    machine.sh(f"systemctl daemon-reload && systemctl enable --now {units}")


def _write_kubelet(node: GuestNode, port: int) -> None:
    machine, cluster = node.machine, node.cluster
    serving = cluster.authority.server(kubelet.NAME, LOOPBACK)
    client = cluster.kubeconfig_of(kubelet.USER, kubelet.GROUPS)
    machine.write(ETC / "ca.crt", cluster.authority.certificate)
    machine.write(ETC / "kubelet.crt", serving.certificate)
    machine.write(ETC / "kubelet.key", serving.key)
    machine.write(ETC / "kubelet.kubeconfig", client)
    machine.write(ETC / "resolv.conf", "")
    machine.write(ETC / "kubelet.json", json.dumps(_kubelet_settings(node, port)))
    command: list[str | Path] = [
        BROUGHT / "kube", "kubelet",
        f"--config={ETC / 'kubelet.json'}",
        f"--kubeconfig={ETC / 'kubelet.kubeconfig'}",
        f"--root-dir={ROOT}",
        f"--cert-dir={ROOT / 'pki'}",
        f"--hostname-override={node.name}",
        f"--node-ip={node.network.address}",
        "-v=2",
    ]  # fmt: skip
    machine.write(guest_units.UNITS / "kubelet.service", guest_units.kubelet_unit(*command))


def _kubelet_settings(node: GuestNode, port: int) -> dict[str, Any]:
    return {
        **kubelet.common(
            port=port,
            ca_file=ETC / "ca.crt",
            certificate=ETC / "kubelet.crt",
            key=ETC / "kubelet.key",
            containerd=CONTAINERD,
            dns=str(node.network.address),
            resolv_conf=ETC / "resolv.conf",
        ),
        # From outside it is asked through a port that is forwarded.
        "address": "0.0.0.0",
        "cgroupDriver": "systemd",
    }
