"""A kubelet of the run's own: its configuration and how it is started."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed.building import made, unpacked
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.containerd import Containerd
from tests.testbed.parts.node.namespace import Namespace
from tests.testbed.parts.node.network import Network
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port

# The API server goes to a node by its name, and this one leads to loopback everywhere.
NAME = "localhost"
USER = f"system:node:{NAME}"
GROUPS = ("system:nodes",)
# File systems whose size kubelet's cAdvisor can tell.
MEASURED = frozenset({"btrfs", "ext2", "ext3", "ext4", "overlay", "tmpfs", "xfs", "zfs"})
NO_THRESHOLDS = ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available")


@dataclass(frozen=True, slots=True)
class Kubelet:
    daemon: Daemon
    port: int
    """On loopback; who has no token is refused."""


def begin(
    cluster: Cluster, folder: Path, containerd: Containerd, network: Network, *, cgroup: str
) -> Kubelet:
    """Start it beside *containerd*, in the same mounts; it registers the node by itself."""
    run, root = cluster.run, root_of(folder)
    within = folder.relative_to(run.directory)
    port = free_port()
    serving = cluster.authority.server(NAME, LOOPBACK)
    file = run.file(
        f"{within}/kubelet.json",
        json.dumps(
            configuration(
                folder,
                port=port,
                measures=measures(Path("/proc/self/mountinfo").read_text(), folder),
                ca_file=cluster.ca_file,
                certificate=run.file(f"{within}/kubelet.crt", serving.certificate),
                key=run.file(f"{within}/kubelet.key", serving.key),
                containerd=containerd.socket,
                dns=str(network.address),
                cgroup=cgroup,
            )
        ),
    )
    # Nobody answers names in here: what asks for one learns at once that there is none.
    run.file(f"{within}/resolv.conf", "")
    kubeconfig = run.file(f"{within}/kubelet.kubeconfig", cluster.kubeconfig_of(USER, GROUPS))
    daemon = run.started(
        "kubelet",
        Namespace.of(
            containerd.daemon.pid,
            made.kube(), "kubelet",
            f"--config={file}",
            f"--kubeconfig={kubeconfig}",
            f"--root-dir={root}",
            f"--cert-dir={folder / 'certificates'}",
            f"--hostname-override={NAME}",
            # It refuses loopback, and would else look for the machine's way out, which a machine
            # without a network does not have.
            f"--node-ip={network.address}",
            "-v=2",
        ),
        environment=unpacked.environment(made.debian("node")),
    )  # fmt: skip
    return Kubelet(daemon, port)


def root_of(folder: Path) -> Path:
    """Its root directory, as hostPath volumes of pods name it too."""
    return folder / "kubelet"


def measures(mountinfo: str, folder: Path) -> bool:
    """Whether kubelet knows the kind of file system that *folder* is on."""
    kinds = dict[Path, str]()
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        kinds[Path(mount.split()[4])] = source.split()[0]  # what is mounted last is on top
    below = next(path for path in (folder, *folder.parents) if path in kinds)
    return kinds[below] in MEASURED


def configuration(
    folder: Path,
    *,
    port: int,
    measures: bool,
    ca_file: Path,
    certificate: Path,
    key: Path,
    containerd: Path,
    dns: str,
    cgroup: str,
) -> dict[str, Any]:
    """Loopback, folders of the run, and nothing that writes to the machine."""
    return {
        **common(
            port=port,
            ca_file=ca_file,
            certificate=certificate,
            key=key,
            containerd=containerd,
            dns=dns,
            resolv_conf=folder / "resolv.conf",
        ),
        "address": LOOPBACK,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup,
        "failCgroupV1": False,
        "failSwapOn": False,
        "podLogsDir": str(folder / "pod-logs"),
        "volumePluginDir": str(folder / "volume-plugins"),
        # Without it there are no statistics, with it no start where kubelet cannot measure the disk.
        "localStorageCapacityIsolation": measures,
        # To lower it takes CAP_SYS_RESOURCE, and this kubelet is not worth more than its tests.
        "oomScoreAdj": 0,
        # A full disk is the developer's business: here it evicts no pod and removes no image.
        "evictionHard": dict.fromkeys(NO_THRESHOLDS, "0%"),
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        # Tests wait for what these bring.
        "nodeStatusUpdateFrequency": "2s",
        "syncFrequency": "10s",
        # A process that is killed again and again is not left alone for minutes.
        "crashLoopBackOff": {"maxContainerRestartPeriod": "5s"},
    }


def common(
    *,
    port: int,
    ca_file: Path,
    certificate: Path,
    key: Path,
    containerd: Path,
    dns: str,
    resolv_conf: Path,
) -> dict[str, Any]:
    """What is the same for every kubelet of the testbed, wherever it runs."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": f"unix://{containerd}",
        # Who may ask it
        "port": port,
        "readOnlyPort": 0,
        "healthzBindAddress": LOOPBACK,
        "healthzPort": free_port(),
        "tlsCertFile": str(certificate),
        "tlsPrivateKeyFile": str(key),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(ca_file)},
        },
        "authorization": {"mode": "Webhook"},
        # Where it works
        "clusterDNS": [dns],
        "clusterDomain": "cluster.local",
        "resolvConf": str(resolv_conf),
        "makeIPTablesUtilChains": False,
    }
