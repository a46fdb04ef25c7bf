"""Units and settings of a guest that is a node, as its distribution would bring them."""

from ipaddress import IPv4Interface
from pathlib import Path

from tests.testbed.parts import images
from tests.testbed.parts.machine.machine import HOST
from tests.testbed.running.ports import LOOPBACK

UNITS = Path("/etc/systemd/system")
NETWORKS = Path("/etc/systemd/network")
CNI = Path("/etc/cni/net.d")


def containerd_settings(programs: Path) -> str:
    """With the driver that leaves all control groups to systemd."""
    return f"""\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{images.PAUSE}"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{programs}/usr/lib/cni"
conf_dir = "{CNI}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "{programs}/usr/sbin/runc"
SystemdCgroup = true
"""


def containerd_unit(programs: Path) -> str:
    """As containerd's own project writes it."""
    return f"""\
[Unit]
After=network.target
[Service]
ExecStart={programs}/usr/bin/containerd
Environment=PATH={programs}/usr/sbin:{programs}/usr/bin:/usr/sbin:/usr/bin
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNOFILE=infinity
TasksMax=infinity
OOMScoreAdjust=-999
[Install]
WantedBy=multi-user.target
"""


def kubelet_unit(*command: str | Path) -> str:
    return f"""\
[Unit]
After=containerd.service
Wants=containerd.service
[Service]
ExecStart={" ".join(map(str, command))}
KillMode=process
Restart=always
RestartSec=5
[Install]
WantedBy=multi-user.target
"""


def bridge(name: str, address: IPv4Interface) -> dict[str, str]:
    """Files that have systemd make the bridge of the pods, with the node's address on it."""
    return {
        f"{name}.netdev": f"[NetDev]\nName={name}\nKind=bridge\n",
        f"{name}.network": (
            f"[Match]\nName={name}\n\n[Network]\nAddress={address}\nConfigureWithoutCarrier=yes\n"
        ),
    }


def proxy(port: int) -> dict[str, str]:
    """Units by which *port* of the guest's loopback leads to the same port of its host's."""
    name = f"host-{port}"
    return {
        f"{name}.socket": (
            f"[Socket]\nListenStream={LOOPBACK}:{port}\n[Install]\nWantedBy=sockets.target\n"
        ),
        f"{name}.service": (
            f"[Service]\nExecStart=/lib/systemd/systemd-socket-proxyd {HOST}:{port}\n"
        ),
    }
