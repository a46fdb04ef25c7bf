"""A kubelet of the run's own: its configuration and how it is started."""

import json
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
NO_THRESHOLDS = ("memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available")


def begin(
    cluster: Cluster, folder: Path, containerd: Containerd, network: Network, *, cgroup: str
) -> Daemon:
    """Start it beside *containerd*, in the same mounts; it registers the node by itself."""
    run, root = cluster.run, root_of(folder)
    within = folder.relative_to(run.directory)
    serving = cluster.authority.server(NAME, LOOPBACK)
    file = run.file(
        f"{within}/kubelet.json",
        json.dumps(
            configuration(
                folder,
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
    return run.started(
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


def root_of(folder: Path) -> Path:
    """Its root directory, as hostPath volumes of pods name it too."""
    return folder / "kubelet"


def configuration(
    folder: Path,
    *,
    ca_file: Path,
    certificate: Path,
    key: Path,
    containerd: Path,
    dns: str,
    cgroup: str,
) -> dict[str, Any]:
    """Ports that are free now, folders of the run, and nothing that writes to the machine."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": f"unix://{containerd}",
        # Who may ask it
        "address": LOOPBACK,
        "port": free_port(),
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
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup,
        "failCgroupV1": False,
        "failSwapOn": False,
        "podLogsDir": str(folder / "pod-logs"),
        "volumePluginDir": str(folder / "volume-plugins"),
        "clusterDNS": [dns],
        "clusterDomain": "cluster.local",
        "resolvConf": str(folder / "resolv.conf"),
        "makeIPTablesUtilChains": False,
        # Else the node is not Ready where the root device is not to be found in /dev.
        "localStorageCapacityIsolation": False,
        # To lower it takes CAP_SYS_RESOURCE, and this kubelet is not worth more than its tests.
        "oomScoreAdj": 0,
        # A full disk is the developer's business: here it evicts no pod and removes no image.
        "evictionHard": dict.fromkeys(NO_THRESHOLDS, "0%"),
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        # Tests wait for what these bring.
        "nodeStatusUpdateFrequency": "2s",
        "syncFrequency": "10s",
    }
