"""The messages between an agent and the brain: only their shapes, with the standard library alone.

The agent posts a batch of `Envelope`s and gets an `Ack`. An epoch is one life of an agent process;
numbers start at 1 in each epoch and only rise, so the brain can tell a report that was sent twice
from a new one, and an agent that asks for its `Ack` knows what need not be sent again. A gap is a
report that the agent had to drop.

Rates are averages since the previous report. What is not known is None, and `missing` says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from nemutator_common.wire_activity import (
    Activity,
    FileSystem,
    Flow,
    NetworkInterface,
    Temperature,
)

REPORTS_PATH = "/uplink/v1/reports"
"""POST of a `Batch` returns an `Ack`; GET with `?node=…&epoch=…` returns the `Ack` so far."""

LARGEST_BATCH_BYTES = 8 << 20
"""The limit of a batch, uncompressed. 110 pods with 2 000 processes are about 0.5 MB."""

LONGEST_PACE_S = 60.0
"""The most seconds between two reports that a brain may ask for: older reports would be useless."""

PROFILE_REQUESTS_PATH = "/uplink/v1/profile-requests"
"""GET with `?node=…&wait_s=25` returns the node's requests as soon as there are any, or none."""

PROFILES_PATH = "/uplink/v1/profiles"
"""POST of a `ProfileOutcome`; sending the same one again changes nothing."""

LARGEST_PROFILE_BYTES = 4 << 20
"""The limit of a compressed pprof. A 30 s profile of a busy Go service is about 100 KiB."""

LONGEST_PROFILE_S = 600.0
USUAL_LONGEST_PROFILE_S = 120.0
"""The longest profile that an agent takes unless its setting `profile_seconds` differs."""

HIGHEST_PROFILE_HZ = 999
USUAL_HIGHEST_PROFILE_HZ = 199
"""The highest rate that an agent takes unless its setting `profile_hz` differs."""

STREAMS_PATH = "/uplink/v1/streams/"
"""The stream's name follows. POST of a `StreamBatch` returns an `Ack`, and so does GET with
`?writer=…&epoch=…`."""

Stream = Literal["grants", "decisions", "windows"]
"""`grants` has `Grant`s of the credentials process; `decisions` has admission's `Decision`s; `windows`
has the records of `windows.py`, of the process that observes."""

Kind = Literal["root", "slice", "unit", "session", "pod", "container", "group"]
"""What a cgroup is, as far as its path shows: `group` is one that follows no known convention."""

Runtime = Literal["go", "python", "java", "node", "ruby", "php", "dotnet", "perl", "shell"]


@dataclass(frozen=True, slots=True)
class Pressure:
    """PSI of one resource: the percentage of time that some, or all, tasks waited for it."""

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
class Throughput:
    """Bytes per second of the whole machine; each byte counts once, at the device that moved it."""

    disk_read: float | None = None
    disk_written: float | None = None
    network_received: float | None = None
    network_sent: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The node itself."""

    kernel: str
    system: str
    """The name of the operating system, from os-release."""
    cpus: int
    memory_bytes: int
    boot_id: str
    cpu_cores: float | None
    """CPU in use, in cores: 1.0 means that one core is busy."""
    memory_used_bytes: int
    """Memory that is not free, less the inactive page cache. Kubelet counts a node in this way, and
    the groups in it are counted in the same way, so that none of them has more."""
    memory_available_bytes: int | None = None
    """Memory that could be allocated without swapping, as the kernel estimates it."""
    swap_used_bytes: int
    load_1m: float
    pressures: Pressures
    throughput: Throughput = Throughput()
    booted_at: float | None = None
    """Seconds since the epoch."""
    pids: int | None = None
    """Processes and threads, now."""
    most_pids: int | None = None
    """The kernel's limit of those."""
    pods_memory_bytes: int | None = None
    """What kubelet lets all pods use together: the machine's memory less what it reserves."""
    most_pods_pids: int | None = None
    file_systems: tuple[FileSystem, ...] = ()
    interfaces: tuple[NetworkInterface, ...] = ()
    temperatures: tuple[Temperature, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A cgroup, as the unit, pod or container that people know."""

    path: str
    """Its path under the root of the hierarchy, as on the machine: `/system.slice/x.service`."""
    kind: Kind
    name: str
    """The name to show: `ssh.service`, a container's short id or a pod's uid."""
    container_id: str | None
    pod_uid: str | None
    processes: int
    """The number of processes in this cgroup itself, without those below it."""
    cpu_cores: float | None
    cpu_is_summed: bool = False
    """Whether CPU is the sum of the processes that were seen, because no cgroup counts it."""
    memory_bytes: int | None
    """Memory charged to the cgroup and those below it, less the inactive page cache (as kubelet
    counts)."""
    pressures: Pressures
    activity: Activity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    pid: int
    started_at: float
    """Seconds since the epoch; together with the pid, this identity is never used twice."""
    workload: str
    """The path of its cgroup."""
    command: str
    """The kernel's name for the process: at most 15 bytes, which the process itself chooses."""
    script: str | None = None
    """The script, module or class that an interpreter runs. Nothing else of a command line is
    reported, because it may contain secrets."""
    runtime: Runtime | None
    runtime_version: str | None
    threads: int
    cpu_cores: float | None
    memory_bytes: int
    """The resident set size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one cgroup used in a quarter of a minute; sizing learns from it.

    Where cgroups do not count CPU time, it is what one program in the cgroup used.
    """

    path: str
    pod_uid: str | None
    container_id: str | None
    program: str | None = None
    """The name of the processes that are summed here; only where no cgroup counts CPU time."""
    from_at: float
    to_at: float
    cpu_cores: float
    """The mean over this time."""
    memory_bytes: int
    """The highest value that was seen, counted as in `Workload`."""
    throttled: float | None = None
    """This and what follows is counted as in `Activity`, over the last time that was read: it may have
    begun up to a minute earlier."""
    oom_kills: int | None = None
    """Of this time alone."""
    network_received: float | None = None
    """Bytes per second of the pod, whose containers share one network: each container has the whole."""
    network_sent: float | None = None
    disk_read: float | None = None
    disk_written: float | None = None
    run_delay: float | None = None
    run_delay_p99: float | None = None
    cpu_waiting: float | None = None
    """This and what follows is PSI of the cgroup: the percentage of the time between its last two readings, up to a
    minute, in which some task of it waited for the CPU, for memory or for a disk."""
    memory_waiting: float | None = None
    """With the part of its waits for a disk in which it read again what had been in its memory."""
    disk_waiting: float | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that the agent could not read, so that nobody takes its absence for zero."""

    what: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One snapshot of a machine."""

    taken_at: float
    machine: Machine
    workloads: tuple[Workload, ...]
    processes: tuple[ProcessUsage, ...]
    missing: tuple[Missing, ...]
    summaries: tuple[Summary, ...] = ()
    """The summaries that were completed since the previous report."""
    flows: tuple[Flow, ...] = ()
    """Who exchanged most with a pod, a pod at a time; empty unless the agent is set to look."""


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
    """All envelopes of *epoch* up to *seq* are stored; *seq* is 0 when none is."""

    epoch: str
    seq: int
    report_every_s: float = 0.0
    """The seconds between two reports of a node that let the brain serve all its nodes; 0 means as
    often as the agent's setting says. Sizing loses nothing: summaries wait for the next report."""
    form: int = 0
    """The version of `wire_columns.py` that the brain takes; 0: JSON alone."""
    naming: int = 0
    named: int = 0
    """So many names of series of this epoch's *naming* the brain has; the others go with the next batch."""
    only_containers: bool = False
    """The brain learns from what containers of pods use, and from nothing else."""


# --- profiles -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ProfileTarget:
    kind: Literal["pod", "cgroup", "pid"]
    value: str
    """A pod's uid, a cgroup's path as reports show it, or a process id."""


ProfileMeasure: TypeAlias = Literal["cpu", "heap", "off-cpu"]
"""What is profiled of a target: where its CPU time goes, what it has allocated and still uses, or where
its threads are blocked in the kernel, and for how long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    id: str
    target: ProfileTarget
    seconds: float
    """0 for a heap, which is read once: an agent that knows CPU profiles alone refuses."""
    hz: int
    """0 for a heap, and for time off the CPU, where each wait is timed."""
    measure: ProfileMeasure = "cpu"
    threads: bool = False
    """Whether the threads of a process are told apart, of CPU time; an older agent does not."""


@dataclass(frozen=True, slots=True)
class ProfileRequests:
    requests: tuple[ProfileRequest, ...]


ProfilePhase: TypeAlias = Literal["", "preparing", "sampling", "symbolising"]
"""What a running profile is at. Empty is from an agent that does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOutcome:
    """The state of a request. `running` comes first, again for each phase, then one of the others."""

    id: str
    node: str
    state: Literal["running", "done", "refused"]
    phase: ProfilePhase = ""
    reason: str = ""
    """Why it was refused, for people to read."""
    remedy: str = ""
    """What people can do about it."""
    started_at: float = 0.0
    seconds: float = 0.0
    hz: int = 0
    recorded: int = 0
    """The number of samples in the profile, or so far; of stacks that have allocated, for a heap; of
    nanoseconds, for time off the CPU, as are those that are *lost*."""
    lost: Mapping[str, int] | None = None
    """The numbers of samples that are not in it, by reason."""
    cpu_seconds: float | None = None
    """An independent measure: the target's CPU time while it was sampled, from the counter of its
    cgroup or process. `recorded / hz` should be equal to it."""
    notes: tuple[str, ...] = ()
    """What people should know, such as a Go version that is too old, or frames without a name."""
    pprof: bytes = b""
    """The compressed profile, as `go tool pprof` reads it."""


# --- numbered streams ---------------------------------------------------------------------------
LONGEST_GRANT_TEXT = 512
"""The most characters of each text of a `Grant`. A record with a longer text, or with a control
character in one, is refused."""


GrantOperation: TypeAlias = Literal[
    "login",
    "renew",
    "revoke",
    "read",
    "list",
    "write",
    "lookup",
    "lease",
    "unwrap",
    "env",
    "whoami",
    "connect",
    "set",
    "delete",
    "rotate",
    "signal",
]
"""What was asked of Vault for a pod, or by a caller on a socket; or what was done for it after a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One action that the credentials process took, or refused, for a pod. It has no secrets."""

    at: float
    node: str
    namespace: str
    pod: str
    """Empty outside of Kubernetes, where there is no pod."""
    pod_uid: str
    service_account: str
    caller: str
    """The uid and executable of the caller, outside of Kubernetes."""
    operation: GrantOperation
    secret: str = ""
    """The name under which the pod declares the secret."""
    path_digest: str = ""
    version: int | None = None
    cached: bool = False
    result: Literal["granted", "denied", "failed"]
    reason: str = ""
    role: str = ""
    expires_at: float | None = None
    """When the Vault token expires, after login and renewal: the brain shows it as a lease."""


SUPERSEDED = "superseded"
"""The reason of a revocation whose token had a successor: what its pod may do goes on with that one."""


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """`records` are JSON objects of the stream's shape; the first has the number `first`."""

    writer: str
    """Who numbers the records: a node, or the name of an admission pod."""
    epoch: str
    first: int
    records: tuple[dict[str, object], ...]
