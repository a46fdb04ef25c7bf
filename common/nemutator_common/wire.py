"""What an agent and the brain say to each other: shapes only, standard library only.

The agent posts a batch of `Envelope`s and gets an `Ack`. An epoch is one life of an agent process;
numbers start at 1 in each epoch and only rise, so the brain can tell a report that was sent twice
from a new one, and an agent that asks for its `Ack` knows what need not be sent again. A gap is a
report that the agent had to drop.

Rates are averages since the report before. What is not known is None, and `missing` says why.
"""

from dataclasses import dataclass
from typing import Literal

REPORTS_PATH = "/uplink/v1/reports"
"""POST a `Batch`, answered by an `Ack`; GET `?node=…&epoch=…` answers the `Ack` so far."""

LARGEST_BATCH_BYTES = 8 << 20
"""Uncompressed. 110 pods with 2 000 processes are about 0.5 MB."""

Kind = Literal["root", "slice", "unit", "session", "pod", "container", "group"]
"""What a cgroup is, as far as its path says: `group` is one that nobody's convention explains."""

Runtime = Literal["go", "python", "java", "node", "ruby", "php", "dotnet", "perl", "shell"]


@dataclass(frozen=True, slots=True)
class Pressure:
    """PSI of one resource: percent of time that some, or all, tasks waited for it."""

    some_10s: float
    some_60s: float
    full_10s: float | None
    full_60s: float | None


@dataclass(frozen=True, slots=True)
class Pressures:
    cpu: Pressure | None = None
    memory: Pressure | None = None
    io: Pressure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The node itself."""

    kernel: str
    system: str
    """Name of the operating system, from os-release."""
    cpus: int
    memory_bytes: int
    boot_id: str
    cpu_cores: float | None
    """CPU in use, in cores: 1.0 is one core busy."""
    memory_used_bytes: int
    """Total less what the kernel says is available."""
    swap_used_bytes: int
    load_1m: float
    pressures: Pressures


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A cgroup, seen as what people call it."""

    path: str
    """Its path under the hierarchy's root, as the machine shows it: `/system.slice/x.service`."""
    kind: Kind
    name: str
    """What to show: `ssh.service`, a container's short id, a pod's uid."""
    container_id: str | None
    pod_uid: str | None
    processes: int
    """In this cgroup itself, not below it."""
    cpu_cores: float | None
    memory_bytes: int | None
    """Charged to the cgroup and those below it, less the inactive page cache (as kubelet counts)."""
    pressures: Pressures


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    pid: int
    started_at: float
    """Seconds since the epoch: with the pid, an identity that is not used twice."""
    workload: str
    """Path of its cgroup."""
    command: str
    """The kernel's name for it: at most 15 bytes, chosen by the process itself."""
    runtime: Runtime | None
    runtime_version: str | None
    threads: int
    cpu_cores: float | None
    memory_bytes: int
    """Resident set."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that this agent could not get, so that nobody takes its absence for zero."""

    what: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One look at a machine."""

    taken_at: float
    machine: Machine
    workloads: tuple[Workload, ...]
    processes: tuple[Process, ...]
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True)
class Envelope:
    seq: int
    report: Report


@dataclass(frozen=True, slots=True)
class Batch:
    node: str
    epoch: str
    envelopes: tuple[Envelope, ...]


@dataclass(frozen=True, slots=True)
class Ack:
    """All envelopes of *epoch* up to *seq* are stored; 0 when none is."""

    epoch: str
    seq: int
