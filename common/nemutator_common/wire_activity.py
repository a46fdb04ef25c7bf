"""The parts of a report that tell what groups and machines do beside CPU and memory.

Rates are averages of a quarter of a minute to a minute, so that they cost little. What is
not known is None; what only grows is told whole, so that a lost report loses no event.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """What went through network interfaces, per second; drops and errors are of both directions."""

    received: float | None = None
    """Bytes."""
    sent: float | None = None
    packets_received: float | None = None
    packets_sent: float | None = None
    drops: float | None = None
    errors: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What a cgroup and those below it did. A pod's network, and its starts, are on the pod's row."""

    throttled: float | None = None
    """The share of CFS periods in which it was stopped, because it had used up its CPU limit."""
    throttled_s: float | None = None
    """Seconds per second that its CPUs stood still for that."""
    oom_kills: int | None = None
    """Processes that the kernel has killed for memory, since the cgroup was made; of version 1 in the cgroup itself, not in
    those below it."""
    pids: int | None = None
    """Processes and threads, now."""
    open_files: int | None = None
    """Open descriptors of its own processes, now."""
    run_delay: float | None = None
    """Seconds per second that threads of its own processes were ready to run and had no CPU; where turns are timed, those of
    groups below it as well."""
    run_delay_p99: float | None = None
    """Seconds that 99 of 100 turns of threads did not have to wait for their CPU longer than, from a histogram that is exact
    to a fifth; only where turns are timed, and of a hundred turns or more."""
    disk_read: float | None = None
    """Bytes per second that disks moved for it; page cache that was there already is not among them."""
    disk_written: float | None = None
    traffic: NetworkRates | None = None
    """Of a pod with a network of its own."""
    starts: int | None = None
    """Of a pod: containers that were new in it since the agent saw the pod first, restarts for the
    most part."""
    processes_started: float | None = None
    """Processes per second that began in the cgroup itself, with those that ended between two snapshots;
    only where the kernel tells the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    """A file system on a disk of the machine, once however often it is mounted."""

    path: str
    device: str
    kind: str
    total_bytes: int
    used_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """An interface with a device behind it."""

    name: str
    traffic: NetworkRates
    is_up: bool | None = None
    megabits: int | None = None
    """Its speed; None where the driver does not know."""


@dataclass(frozen=True, slots=True)
class Temperature:
    sensor: str
    celsius: float


Direction: TypeAlias = Literal["in", "out"]
"""`in`: somebody connected to a socket that listens in the pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What a pod exchanged with one peer, over connections that were open at a look."""

    pod_uid: str
    address: str
    """Of the peer; an IPv4 address in an IPv6 socket is shown as what it is."""
    port: int
    """Of whichever side listens: the peer's for `out`, the pod's own for `in`."""
    protocol: Literal["tcp"]
    direction: Direction
    received: int
    """Bytes between *from_at* and *to_at*."""
    sent: int
    connections: int
    from_at: float
    to_at: float
