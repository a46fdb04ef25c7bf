"""Settings of the agent's processes."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.settings import ServesMetrics, between, setting
from nemutator_common.shipping.settings import CallsBrain
from nemutator_common.wire import (
    HIGHEST_PROFILE_HZ,
    LONGEST_PROFILE_S,
    USUAL_HIGHEST_PROFILE_HZ,
    USUAL_LONGEST_PROFILE_S,
)

_DRIVER = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")

_URL = re.compile(r"https?://([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?")
_MOUNT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def _node(value: str) -> str | None:
    if not value or _NODE.fullmatch(value):
        return None
    return "expected a host name: letters, digits, dots and dashes, at most 253"


def _interval(value: float) -> str | None:
    return None if value == 0 or 0.5 <= value <= 60 else "expected 0, or a number from 0.5 to 60"


def _url(value: str) -> str | None:
    if not value or _URL.fullmatch(value):
        return None
    return "expected https://host[:port] or http://host[:port], and no path"


def _mount(value: str) -> str | None:
    plain = not value or _MOUNT.fullmatch(value)
    return None if plain else "expected a path like kubernetes or clusters/one"


def _socket(value: str) -> str | None:
    return None if not value or value.startswith("/") else "expected an absolute path"


def _name_of(node: str, host: str) -> str:
    if not node and not _NODE.fullmatch(host):
        raise OperatorError(
            f"this machine's host name cannot be reported: {host[:253]!r}",
            remedy="name it for us with --node, or give the machine another host name",
            code=ExitCode.SETTINGS,
        )
    return node or host


def _driver(value: str) -> str | None:
    # Of a CSIDriver: a DNS name of at most 63 characters, and it becomes the name of files.
    return None if _DRIVER.fullmatch(value) else f"expected a name like {names.CSI_DRIVER}"


def _absolute(value: Path) -> str | None:
    plain = value.is_absolute() and ".." not in value.parts
    return None if plain else "expected an absolute path"


def _absolute_or_empty(value: str) -> str | None:
    return _absolute(Path(value)) if value else None


class WindowPace(NamedTuple):
    """In seconds."""

    age_s: float
    """Of the youngest process that windows look at."""
    every_s: float
    """Between two looks at the heap of one process."""
    cpu_s: float
    """How long a window of CPU time takes."""
    cpu_every_s: float
    """From the beginning of one to that of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveSettings(CallsBrain):
    """`nemutator-agent observe`."""

    role: ClassVar[str] = names.OBSERVE

    node: str = setting(
        "", "Name under which this machine is reported; empty: its host name.", check=_node
    )
    interval_s: float = setting(
        0.0,
        "Seconds between two snapshots of the machine; 0: 7.5 in a cluster, 3 where the brain is on this"
        " machine.",
        check=_interval,
    )
    summary_s: float = setting(
        15.0,
        "Seconds that one summary of a container's use spans: what advice on its size learns from.",
        check=between(1, 300),
    )
    processes: int = setting(
        4096, "Most processes in a report; the others are counted.", check=between(1, 20_000)
    )
    groups: int = setting(
        2048, "Most control groups whose counters are read.", check=between(1, 4_000)
    )
    descriptors: int = setting(
        16_384,
        "Most files of /proc and of control groups that are kept open, six or less per group and "
        "one per process; never more than the open file limit leaves.",
        check=between(16, 1_000_000),
    )
    flows: bool = setting(
        False,
        "Report with which peers pods exchange most over TCP, one pod at a time. It needs CAP_SYS_ADMIN, to"
        " enter the network of a pod.",
    )
    flow_s: float = setting(
        60.0,
        "Seconds between the two looks at the connections of a pod; then the next pod has its turn.",
        check=between(1, 3600),
    )
    run_queues: bool = setting(
        False,
        "Time in the kernel, at each switch of a CPU from one thread to another, how long threads of control groups"
        " waited for their turn: the 99th percentile is reported beside the mean. It needs CAP_BPF and CAP_PERFMON,"
        " as profiles do.",
    )
    buffered_reports: int = setting(
        1_000,
        "Most reports that wait for the brain; then the oldest go.",
        check=between(1, 100_000),
    )

    profile_seconds: float = setting(
        USUAL_LONGEST_PROFILE_S,
        "Longest time that one profile may take, in seconds.",
        check=between(1, LONGEST_PROFILE_S),
    )
    profile_hz: int = setting(
        USUAL_HIGHEST_PROFILE_HZ,
        "Most samples that a profile may take per second and CPU.",
        check=between(1, HIGHEST_PROFILE_HZ),
    )
    sampling_engine: Literal["auto", "libbpf", "bcc"] = setting(
        "auto",
        "What brings sampling programs into the kernel: libbpf, by the kernel's BTF; bcc, by its headers;"
        " auto: libbpf where there is BTF, else bcc where it is installed with the headers.",
    )
    windows: bool = setting(
        True,
        "Look at Go processes that have run for long, without being asked, at their heaps and at where"
        " their CPU time goes: that is how leaks, and functions that take more and more, are found.",
    )
    window_age_s: float = setting(
        0.0,
        "Seconds that a process must have run to be looked at; 0: an hour in a cluster, a minute where"
        " the brain is on this machine.",
        check=between(0, 30 * 86_400),
    )
    window_every_s: float = setting(
        0.0,
        "Seconds between two looks at the heap of one process; 0: ten minutes in a cluster, half a"
        " minute where the brain is on this machine.",
        check=between(0, 86_400),
    )
    window_cpu_s: float = setting(
        0.0,
        "Seconds that one window of CPU time takes; 0: 30 in a cluster, 10 where the brain is on this"
        " machine. It is at most half of the time between two.",
        check=between(0, 600),
    )
    window_cpu_every_s: float = setting(
        0.0,
        "Seconds between two windows of CPU time, each of which is of all processes of the node; 0: ten"
        " minutes in a cluster, two minutes where the brain is on this machine.",
        check=between(0, 86_400),
    )
    window_hz: int = setting(
        49,
        "Samples that such a window takes per second and CPU, fewer on a node with many CPUs; 0: no"
        " windows of CPU time.",
        check=between(0, USUAL_HIGHEST_PROFILE_HZ),
    )
    window_processes: int = setting(
        200, "Most processes that are looked at; the oldest come first.", check=between(1, 2_000)
    )
    window_cpu_percent: float = setting(
        5.0,
        "Budget of all looks, in percent of one CPU; what would pass it waits, and is told.",
        check=between(0.1, 100),
    )
    window_memory_bytes: int = setting(
        256 << 20,
        "Memory of this process above which no look begins, in bytes.",
        check=between(32 << 20, 4 << 30),
    )

    @property
    def is_brain_local(self) -> bool:
        """Whether this machine stands alone: the brain of a cluster is called over TLS."""
        return not self.brain.startswith("https:")

    @property
    def snapshot_every_s(self) -> float:
        """On a machine that stands alone somebody watches; a full node of a cluster must be cheap."""
        return self.interval_s or (3.0 if self.is_brain_local else 7.5)

    @property
    def seldom_s(self) -> float:
        """Seconds between two readings of what a group does beside CPU and memory."""
        return 5 * self.snapshot_every_s if self.is_brain_local else 8 * self.snapshot_every_s

    @property
    def members_s(self) -> float:
        """Seconds between two readings of what the threads of a group waited for."""
        return min(60.0, 20 * self.snapshot_every_s if self.is_brain_local else self.seldom_s)

    @property
    def window_pace(self) -> WindowPace:
        alone = self.is_brain_local
        usual = (
            WindowPace(60.0, 30.0, 10.0, 120.0) if alone else WindowPace(3600.0, 600.0, 30.0, 600.0)
        )
        cpu_every_s = self.window_cpu_every_s or usual.cpu_every_s
        return WindowPace(
            age_s=self.window_age_s or usual.age_s,
            every_s=self.window_every_s or usual.every_s,
            cpu_s=min(self.window_cpu_s or usual.cpu_s, cpu_every_s / 2),
            cpu_every_s=cpu_every_s,
        )

    def name_of(self, host: str) -> str:
        """What the machine called *host* is reported as; a brain refuses what is not a host name."""
        return _name_of(self.node, host)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsSettings(CallsBrain):
    """`nemutator-agent credentials`."""

    role: ClassVar[str] = names.CREDENTIALS

    node: str = setting(
        "", "Name of this machine in audit records; empty: its host name.", check=_node
    )
    audit_key_file: str = setting(
        "",
        "File with the key of the installation for digests of paths in audit records, the same as the "
        "brain's; empty: a key of this machine's own, and nobody can ask who read a path.",
        check=_absolute_or_empty,
    )
    vault_address: str = setting(
        "",
        "URL of Vault, like `https://vault.example:8200`; empty: this machine's own encrypted "
        "file of secrets alone, for one socket and all callers.",
        check=_url,
    )
    vault_ca_file: str = setting(
        "", "PEM file with the authorities that sign Vault's certificate; empty: the system's."
    )
    vault_auth_method: Literal["kubernetes", "jwt", "approle", "token"] = setting(
        "kubernetes",
        "How Vault knows the tokens of pods: it asks the API server (kubernetes), or has its keys (jwt). "
        "On a machine without Kubernetes, what the agent itself logs in with: an AppRole (approle), or a "
        "token of yours (token).",
    )
    vault_auth_mount: str = setting(
        "",
        "Where that method is mounted in Vault, below `auth/`; empty: under its own name.",
        check=_mount,
    )
    vault_role_id_file: str = setting(
        "",
        "File with the role id of an AppRole, which only root or the agent's user may write. It is read at "
        "start.",
        check=_absolute_or_empty,
    )
    vault_secret_id_file: str = setting(
        "",
        "File with its secret id, which nobody else may read. It is read for each login.",
        check=_absolute_or_empty,
    )
    vault_secret_id_wrapping_path: str = setting(
        "",
        "Where the secret id was made, if it is a wrapped one, like `auth/approle/role/shop/secret-id`: the "
        "file then has a wrapping token, which is unwrapped once, and only if it was made there.",
        check=_mount,
    )
    vault_token_file: str = setting(
        "",
        "File with the token of the method token, which nobody else may read. It is renewed, and never "
        "revoked; the file is read again when the token has ended.",
        check=_absolute_or_empty,
    )
    vault_namespace: str = setting("", "Vault Enterprise's or OpenBao's namespace.")
    pods_root: str = setting(
        "",
        "Control group below which kubelet keeps all pods, like `/kubepods.slice` or "
        "`memory:/kubepods`; empty: found from this process's own.",
    )
    agent_socket: str = setting(
        "",
        "Without Kubernetes, the socket of all callers of this machine; empty: `agent.sock` in the data "
        "directory, which no other user may enter.",
        check=_socket,
    )
    files_dir: str = setting(
        "",
        "Without Kubernetes, the directory of secrets that are kept in files, too; empty: `files` in the "
        "data directory, which no other user may enter. What lies below /run is in memory.",
        check=_absolute_or_empty,
    )
    fresh_s: float = setting(
        60.0,
        "Seconds for which a secret that was read is given without asking Vault again.",
        check=between(0, 300),
    )
    stale_s: float = setting(
        600.0,
        "Seconds for which a secret that was read is given, marked as stale, while Vault is sealed, "
        "overloaded or does not answer; never after a denial.",
        check=between(0, 3600),
    )
    check_s: float = setting(
        60.0,
        "Seconds after which what a pod has read is read again, to see whether it has changed: once "
        "for all pods of the node that have read it.",
        check=between(1, 3600),
    )
    checks_per_minute: float = setting(
        60.0,
        "The most of these readings in a minute, for the whole node; with more paths than that each "
        "waits longer. Pods that have read what has changed read it once more each.",
        check=between(1, 6000),
    )
    vault_call_s: float = setting(
        5.0, "Deadline of one call to Vault, in seconds.", check=between(0.1, 60)
    )
    orphans_s: float = setting(
        120.0,
        "Seconds after the start for which the Vault tokens of an earlier run wait for their pods to "
        "be published again, and are then revoked. Tokens of pods of which neither a process nor the "
        "volume is left are revoked at once.",
        check=between(1, 3600),
    )
    requests_per_s: float = setting(
        50.0,
        "Requests per second of one pod (of one uid, without Kubernetes); twice as many at once.",
        check=between(1, 10_000),
    )

    @property
    def serves_pods(self) -> bool:
        return bool(self.vault_address) and self.vault_auth_method in ("kubernetes", "jwt")

    @property
    def auth_mount(self) -> str:
        return self.vault_auth_mount or self.vault_auth_method

    def name_of(self, host: str) -> str:
        """What the machine called *host* is in audit records; a brain refuses other names."""
        return _name_of(self.node, host)


@dataclass(frozen=True, slots=True, kw_only=True)
class MountSettings(ServesMetrics):
    """`nemutator-agent mount`."""

    role: ClassVar[str] = names.MOUNT

    node: str = setting(
        "", "Name of this machine in the cluster; empty: its host name.", check=_node
    )
    driver: str = setting(
        str(names.CSI_DRIVER), "Name of the CSI driver, as its CSIDriver has it.", check=_driver
    )
    kubelet_root: str = setting(
        "",
        "Kubelet's --root-dir, seen under the same path; empty: the first of the places of known "
        "distributions that has a kubelet's directory, `/var/lib/kubelet` before all.",
        check=_absolute_or_empty,
    )
    plugin_dir: str = setting(
        "",
        "Where the driver's socket and the volumes are; empty: `plugins/DRIVER` in kubelet's root.",
        check=_absolute_or_empty,
    )
    registry_dir: str = setting(
        "",
        "Where kubelet looks for drivers; empty: `plugins_registry` in kubelet's root.",
        check=_absolute_or_empty,
    )
    credentials: Path = setting(
        Path("/run/nemutator-agent/credentials/credentials.sock"),
        "The private socket of the credentials process.",
        check=_absolute,
    )

    @property
    def plugin_directory(self) -> Path:
        return Path(self.plugin_dir or f"{self.kubelet_root}/plugins/{self.driver}")

    @property
    def registry_directory(self) -> Path:
        return Path(self.registry_dir or f"{self.kubelet_root}/plugins_registry")
