"""What was read of a machine, as it was read: strangers' text, or the reason why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unread:
    """Nothing could be read, for a *reason* in the system's words."""

    reason: str
    absent: bool = False
    """There is no such thing here; otherwise it may be there, and we cannot tell."""


Text = str | Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Where the data directory is, or would be made."""

    path: str
    exists: bool
    """Otherwise the rest is about the nearest directory above it."""
    usable: bool
    """This user may write there, and `nemutator up` would take it."""
    read_only: bool
    free_bytes: int
    """What an ordinary user may still take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFacts:
    user: int
    """The effective user id of this process; 0 is root."""
    kernel: str
    """The release: `6.1.0-18-amd64`."""
    processor: str
    """Its type: `x86_64`."""
    pidfd: bool | Unread
    peer_pidfd: bool
    """Whether the kernel says which process made a connection, and not only its number."""
    btf: bool | Unread
    """Whether the kernel describes its own types to this process."""
    libbpf: Text
    """Its version: `v1.1`."""
    bcc: bool
    """Whether the distribution's bcc for Python is installed."""
    kernel_headers: bool
    """Whether those of this kernel are."""
    status: Text
    """/proc/self/status."""
    uid_map: Text
    """/proc/self/uid_map."""
    mountinfo: Text
    """/proc/self/mountinfo."""
    controllers: Text
    """cgroup.controllers of the root of version 2."""
    pressure: Text
    """/proc/pressure/cpu."""
    swaps: Text
    """/proc/swaps."""
    pid_namespace: int | Unread
    """The inode of the pid namespace of this process."""
    perf_event_paranoid: Text
    perf_event_max_sample_rate: Text
    kptr_restrict: Text
    ptrace_scope: Text
    seccomp: Text
    """/proc/sys/kernel/seccomp/actions_avail: `kill_process … errno … allow`."""
    lockdown: Text
    """/sys/kernel/security/lockdown: `none [integrity] confidentiality`."""
    open_files: int | None
    """The limit up to which a process may raise its own; None is no limit."""
    space: Space | Unread
