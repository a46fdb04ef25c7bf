"""Units and settings of a guest that is a node, as its distribution would bring them."""

from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path

from tests.testbed.parts import images
from tests.testbed.parts.machine.machine import HOST
from tests.testbed.running.ports import LOOPBACK

UNITS = Path("/etc/systemd/system")
NETWORKS = Path("/etc/systemd/network")
CNI = Path("/etc/cni/net.d")

SPARING = "GODEBUG=asyncpreemptoff=1 GOGC=400"
"""For programs of Go: what interrupts their functions, and clears up after them, takes an emulated CPU
a fifth of its time."""

PATIENCE = "120s"
"""For the answer of a container's shim: by default two to five seconds. After a restart, containerd ends
each pod whose shim has not answered by then."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Folders of a guest where the programs are that start containers."""

    containerd: Path
    """With its shim and ctr."""
    runc: Path
    plugins: Path
    """Of CNI."""


def containerd_settings(engine: Engine) -> str:
    """With the driver that leaves all control groups to systemd."""
    return f"""\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{images.PAUSE}"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{engine.plugins}"
conf_dir = "{CNI}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "{engine.runc}/runc"
SystemdCgroup = true
[timeouts]
"io.containerd.timeout.shim.cleanup" = "{PATIENCE}"
"io.containerd.timeout.shim.load" = "{PATIENCE}"
"io.containerd.timeout.shim.shutdown" = "{PATIENCE}"
"io.containerd.timeout.task.state" = "{PATIENCE}"
"""


def containerd_unit(engine: Engine) -> str:
    """As containerd's own project writes it."""
    return f"""\
[Unit]
After=network.target
[Service]
ExecStart={engine.containerd}/containerd
Environment=PATH={engine.containerd}:{engine.runc}:/usr/sbin:/usr/bin {SPARING}
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


def served_by(shims: str) -> set[str]:
    """For which pod or container each shim was started, by their command lines; without those that only
    start or clean up one."""
    lines = [line.split() for line in shims.splitlines()]
    return {
        words[words.index("-id") + 1]
        for words in lines
        if "-id" in words and words[-1] not in ("start", "delete")
    }


def kubelet_unit(*command: str | Path) -> str:
    return f"""\
[Unit]
After=containerd.service
Wants=containerd.service
[Service]
ExecStart={" ".join(map(str, command))}
Environment={SPARING}
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


def mount(device: str, where: str) -> str:
    return (
        f"[Mount]\nWhat={device}\nWhere={where}\nType=ext4\n[Install]\nWantedBy=local-fs.target\n"
    )


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
