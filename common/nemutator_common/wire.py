"""What an agent and the brain say to each other: shapes only, standard library only.

The agent posts a batch of `Envelope`s and gets an `Ack`. An epoch is one life of an agent process;
numbers start at 1 in each epoch and only rise, so the brain can tell a report that was sent twice
from a new one, and an agent that asks for its `Ack` knows what need not be sent again. A gap is a
report that the agent had to drop.

Rates are averages since the report before. What is not known is None, and `missing` says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

REPORTS_PATH = "/uplink/v1/reports"
"""POST a `Batch`, answered by an `Ack`; GET `?node=…&epoch=…` answers the `Ack` so far."""

LARGEST_BATCH_BYTES = 8 << 20
"""Uncompressed. 110 pods with 2 000 processes are about 0.5 MB."""

LONGEST_PACE_S = 60.0
"""Most seconds between two reports that a brain may ask for: an older picture is none."""

PROFILE_REQUESTS_PATH = "/uplink/v1/profile-requests"
"""GET `?node=…&wait_s=25`: answered when there is a request for the node, or with none."""

PROFILES_PATH = "/uplink/v1/profiles"
"""POST a `ProfileOutcome`; the same one again changes nothing."""

LARGEST_PROFILE_BYTES = 4 << 20
"""Of pprof, compressed. A 30 s profile of a busy Go service is some 100 KiB."""

LONGEST_PROFILE_S = 600.0
USUAL_LONGEST_PROFILE_S = 120.0
"""What an agent takes unless its setting `profile_seconds` says otherwise, up to the longest."""

HIGHEST_PROFILE_HZ = 999
USUAL_HIGHEST_PROFILE_HZ = 199
"""The same for `profile_hz`."""

STREAMS_PATH = "/uplink/v1/streams/"
"""Then the stream's name. POST a `StreamBatch`, answered by an `Ack`; GET `?writer=…&epoch=…`."""

ADVICE_PATH = "/uplink/v1/advice"
"""GET: an `AdviceSnapshot` for admission; its ETag changes when a decision would."""

TOMBSTONES_PATH = "/uplink/v1/tombstones"
"""GET: a `TombstoneSnapshot` for admission, with an ETag. Who asks again has taken in what it was told
before."""

Stream = Literal["grants", "decisions"]
"""grants: `Grant`s of the credentials process. decisions: `decisions.Decision`s of admission."""

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
class Throughput:
    """Bytes a second of the whole machine: each once, at the device that moved it."""

    disk_read: float | None = None
    disk_written: float | None = None
    network_received: float | None = None
    network_sent: float | None = None


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
    """What is not free, less the inactive page cache: as kubelet counts a node, and as the groups
    in it are counted, so that none of them has more."""
    memory_available_bytes: int | None = None
    """What could be had without swapping, as the kernel estimates it."""
    swap_used_bytes: int
    load_1m: float
    pressures: Pressures
    throughput: Throughput = Throughput()


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
    cpu_is_summed: bool = False
    """No cgroup counts it: it is the sum of the processes that were seen."""
    memory_bytes: int | None
    """Charged to the cgroup and those below it, less the inactive page cache (as kubelet counts)."""
    pressures: Pressures


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    pid: int
    started_at: float
    """Seconds since the epoch: with the pid, an identity that is not used twice."""
    workload: str
    """Path of its cgroup."""
    command: str
    """The kernel's name for it: at most 15 bytes, chosen by the process itself."""
    script: str | None = None
    """The script, module or class that an interpreter was given. Nothing else of a command line is
    told: it may hold secrets."""
    runtime: Runtime | None
    runtime_version: str | None
    threads: int
    cpu_cores: float | None
    memory_bytes: int
    """Resident set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one cgroup used in a quarter of a minute: what sizing learns from.

    Where cgroups do not count CPU time: what one program in it used.
    """

    path: str
    pod_uid: str | None
    container_id: str | None
    program: str | None = None
    """The name of the processes that this is the sum of; only where no cgroup counts CPU time."""
    from_at: float
    to_at: float
    cpu_cores: float
    """Mean over the time."""
    memory_bytes: int
    """The most that was seen, counted as in `Workload`."""


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
    processes: tuple[ProcessUsage, ...]
    missing: tuple[Missing, ...]
    summaries: tuple[Summary, ...] = ()
    """Those that were completed since the report before."""


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
    report_every_s: float = 0.0
    """Seconds between two reports of a node that the brain can take from all its nodes; 0: as
    often as the agent is set to. What is learned from summaries is the same: they wait."""


# --- profiles -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ProfileTarget:
    kind: Literal["pod", "cgroup", "pid"]
    value: str
    """A pod's uid, a cgroup's path as reports show it, or a process id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    id: str
    target: ProfileTarget
    seconds: float
    hz: int


@dataclass(frozen=True, slots=True)
class ProfileRequests:
    requests: tuple[ProfileRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOutcome:
    """How a request went. `running` comes first, then one of the others."""

    id: str
    node: str
    state: Literal["running", "done", "refused"]
    reason: str = ""
    """For people: why it was refused."""
    remedy: str = ""
    """And what they can do about it."""
    started_at: float = 0.0
    seconds: float = 0.0
    hz: int = 0
    recorded: int = 0
    """Samples that are in the profile."""
    lost: Mapping[str, int] | None = None
    """Samples that are not, by reason."""
    cpu_seconds: float | None = None
    """The independent account: CPU time of the target while it was sampled, by its cgroup's or its
    process's own counter. `recorded / hz` should be that."""
    notes: tuple[str, ...] = ()
    """What people should know: a Go too old to be read, frames that have no name."""
    pprof: bytes = b""
    """Compressed, as `go tool pprof` reads it."""


# --- numbered streams ---------------------------------------------------------------------------
LONGEST_GRANT_TEXT = 512
"""Characters of each text of a `Grant`, none of them a control: another record is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One thing that the credentials process did, or refused to do, for a pod. Never a value."""

    at: float
    node: str
    namespace: str
    pod: str
    """Empty where there is no pod: outside of Kubernetes."""
    pod_uid: str
    service_account: str
    caller: str
    """Outside of Kubernetes: uid and executable."""
    operation: Literal["login", "renew", "revoke", "read", "env", "whoami", "connect"]
    secret: str = ""
    """The name under which the pod declares it."""
    path_digest: str = ""
    version: int | None = None
    cached: bool = False
    result: Literal["granted", "denied", "failed"]
    reason: str = ""
    role: str = ""
    expires_at: float | None = None
    """Of the Vault token, after login and renewal: the brain shows it as a lease."""


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """`records` are JSON objects of the stream's shape, numbered on from `first`."""

    writer: str
    """Who numbers them: a node, or the name of an admission pod."""
    epoch: str
    first: int
    records: tuple[dict[str, object], ...]


# --- snapshots for admission --------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """As Kubernetes writes them; None: not said, or not known."""

    cpu: str | None = None
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedContainer:
    """What one container of a workload should ask for, or why nothing can be said yet."""

    namespace: str
    owner_kind: str
    owner: str
    container: str
    strategy: str
    state: str
    """firm, provisional, not_yet, or a word of a newer brain: only firm advice changes a pod."""
    reason: str
    points: int
    requests: Amounts
    limits: Amounts


@dataclass(frozen=True, slots=True)
class AdviceSnapshot:
    items: tuple[RecommendedContainer, ...]


@dataclass(frozen=True, slots=True, order=True)
class Tombstone:
    """A field of a workload's pods that admission is to leave alone: somebody has taken it back."""

    namespace: str
    owner_kind: str
    owner_name: str
    path: str


@dataclass(frozen=True, slots=True)
class TombstoneSnapshot:
    tombstones: tuple[Tombstone, ...]
