"""Facts of a machine → what nemutator makes of each.

*missing* is only what nothing works without. What profiles need is at most *limited*: all the rest
works without them. Thresholds of kernels are those that introduced a thing; distributions carry
some of them back, so a version alone is never more than a limit.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from nemutator_agent.settings import ObserveSettings
from nemutator_controller.settings import BrainSettings

from nemutator_ctl.doctor import readings
from nemutator_ctl.doctor.facts import Facts, Text, Unread

_PROFILES = "profiles"
_HEAP = "heap profiles (not built yet)"
_AS_ROOT = "run `nemutator up` as root, or let it raise `observe` with sudo"
_UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1"

# include/uapi/linux/capability.h
_CAPABILITIES = {
    "SYS_PTRACE": 19,
    "DAC_READ_SEARCH": 2,
    "PERFMON": 38,
    "BPF": 39,
    "SYSLOG": 34,
    "SYS_RESOURCE": 24,
    "SYS_ADMIN": 21,
}
_FOR_RUNTIMES = ("SYS_PTRACE", "DAC_READ_SEARCH")

_RING_BUFFER = (5, 8)
_MEMORY_BY_CGROUP = (5, 11)
_PROFILE_HZ = 99

# Settings of observe and of the brain as they are by default, with what else they keep open or need.
_FILES = ObserveSettings().descriptors + 256
_DATABASE_BYTES = BrainSettings().database_bytes
_FULL_BYTES = 1 << 20

_DISTRUSTED = "what it says is not what Linux says"


class State(enum.StrEnum):
    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


class Question(enum.StrEnum):
    """In the order of the answers: first what nemutator uses now."""

    purpose: str

    def __new__(cls, value: str, purpose: str) -> Self:
        question = str.__new__(cls, value)
        question._value_ = value
        question.purpose = purpose
        return question

    SPACE = "data directory", "everything that is kept: history, sessions"
    PIDFD = "pidfd", "`nemutator up` notices the end of its processes"
    PROCESSES = "/proc", "processes in the topology"
    CGROUPS = "control groups", "CPU and memory of each workload"
    PRESSURE = "pressure (PSI)", "waiting for CPU, memory and disk"
    CAPABILITIES = "capabilities", "runtimes of others' processes; profiles"
    OPEN_FILES = "open file limit", "counters of many workloads"
    SWAP = "swap", "memory figures that are the whole truth"
    KERNEL = "kernel", _PROFILES
    BTF = "BTF", _PROFILES
    LIBBPF = "libbpf", _PROFILES
    BPF = "unprivileged_bpf_disabled", _PROFILES
    PARANOID = "perf_event_paranoid", _PROFILES
    SAMPLE_RATE = "perf_event_max_sample_rate", _PROFILES
    KPTR = "kptr_restrict", "kernel functions in " + _PROFILES
    PTRACE = "Yama ptrace_scope", _HEAP
    LOCKDOWN = "kernel lockdown", _PROFILES


@dataclass(frozen=True, slots=True)
class Finding:
    question: Question
    state: State
    found: str
    """May hold strangers' text."""
    lost: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    state: State
    found: str
    lost: str = ""
    remedy: str = ""


def examine(facts: Facts) -> tuple[Finding, ...]:
    """One finding for each question, in their order."""
    answers = ((question, _JUDGES[question](facts)) for question in Question)
    return tuple(
        Finding(question, answer.state, answer.found[:200], answer.lost, answer.remedy)
        for question, answer in answers
    )


def _ok(found: str) -> _Answer:
    return _Answer(State.OK, found)


def _limited(found: str, *, lost: str, remedy: str) -> _Answer:
    return _Answer(State.LIMITED, found, lost, remedy)


def _missing(found: str, *, lost: str, remedy: str) -> _Answer:
    return _Answer(State.MISSING, found, lost, remedy)


def _space(facts: Facts) -> _Answer:
    space = facts.space
    elsewhere = "name a directory that this user can write, with free space, with --data-dir"
    if isinstance(space, Unread):
        return _missing(space.reason, lost="`nemutator up` does not start", remedy=elsewhere)
    free = f"{space.free_bytes >> 20} MiB free"
    where = "" if space.exists else ", not made yet"
    found = f"{free}{where}: {space.path}"
    if space.read_only or not space.usable:
        why = "read-only" if space.read_only else "this user cannot use it"
        return _missing(
            f"{why}: {space.path}", lost="`nemutator up` does not start", remedy=elsewhere
        )
    if space.free_bytes < _FULL_BYTES:
        return _missing(found, lost="there is no room for a database", remedy=elsewhere)
    if space.free_bytes < _DATABASE_BYTES:
        return _limited(
            found,
            lost="the database may grow to 256 MiB, and would fill the disk before",
            remedy="free some space, or set a smaller brain.database_bytes",
        )
    return _ok(found)


def _pidfd(facts: Facts) -> _Answer:
    if not isinstance(facts.pidfd, Unread):
        return _ok("works")
    return _missing(
        facts.pidfd.reason,
        lost="`nemutator up` cannot watch the processes that it starts",
        remedy="Linux 5.3 or newer; in a container, a seccomp profile that allows pidfd_open",
    )


def _processes(facts: Facts) -> _Answer:
    mounts = _mounts(facts)
    if isinstance(facts.status, Unread) or (mounts is not None and not mounts.proc):
        found = facts.status.reason if isinstance(facts.status, Unread) else "not mounted"
        return _missing(
            found, lost="nothing of this machine can be seen", remedy="mount proc at /proc"
        )
    if mounts is None:
        return _unclear(facts.mountinfo, "whether /proc hides processes is not known")
    if mounts.hides_processes and facts.user != 0:
        return _limited(
            "mounted with hidepid",
            lost="processes of other users are not in the topology",
            remedy=f"{_AS_ROOT}, or mount /proc with gid= of a group that it is in",
        )
    return _ok("mounted")


def _cgroups(facts: Facts) -> _Answer:
    mounts = _mounts(facts)
    if mounts is None:
        return _unclear(facts.mountinfo, "which control groups are mounted is not known")
    counted = mounts.legacy & {"cpuacct", "memory"}
    version = "hybrid" if mounts.unified and counted else "version 1" if counted else "version 2"
    if not mounts.unified and not counted:
        return _missing(
            "none are mounted, or none that count",
            lost="no workload's CPU and memory is known",
            remedy="mount cgroup2 at /sys/fs/cgroup",
        )
    if counted:
        gone = [
            name
            for name, controller in (("CPU", "cpuacct"), ("memory", "memory"))
            if controller not in counted
        ]
        also = f"; the {' and '.join(gone)} of workloads is not counted" if gone else ""
        lost = (
            "workloads have pressure only where they are in version 2 too"
            if mounts.unified
            else "workloads have no pressure"
        )
        return _limited(
            f"{version}: {', '.join(sorted(counted))}", lost=lost + also, remedy=_UNIFIED
        )
    if isinstance(facts.controllers, Unread):
        return _limited(
            f"{version}, controllers: {facts.controllers.reason}",
            lost="whether the memory of workloads is counted is not known",
            remedy="mount cgroup2 at /sys/fs/cgroup, readable",
        )
    words = facts.controllers.split()
    found = f"{version}: {' '.join(words) or 'no controllers'}"
    if "memory" not in words:
        return _limited(
            found,
            lost="the memory of workloads is not counted",
            remedy="boot with cgroup_enable=memory, on a kernel with CONFIG_MEMCG",
        )
    return _ok(found)


def _pressure(facts: Facts) -> _Answer:
    if isinstance(facts.pressure, str) and facts.pressure.startswith("some "):
        return _ok("counted")
    return _limited(
        facts.pressure.reason if isinstance(facts.pressure, Unread) else _DISTRUSTED,
        lost="how long the machine and its workloads wait for CPU, memory and disk",
        remedy="boot with psi=1, on Linux 4.20 or newer with CONFIG_PSI",
    )


def _capabilities(facts: Facts) -> _Answer:
    lost_runtimes = "runtime and version of processes of other users are guessed from their names"
    if isinstance(facts.status, Unread) or (bits := readings.capabilities(facts.status)) is None:
        return _unclear(facts.status, "which rights this process has is not known")
    held = [name for name, bit in _CAPABILITIES.items() if bits >> bit & 1]
    found = " ".join(held) or "none of those that count"
    who = "root" if facts.user == 0 else f"user {facts.user}"
    if _contained(facts):
        return _limited(
            f"{who} of a container's user namespace: {found}",
            lost=f"{lost_runtimes}, beyond the container; and {_PROFILES}",
            remedy="run observe in the user namespace of the machine",
        )
    losses = []
    if not {*_FOR_RUNTIMES} <= {*held}:
        losses.append(lost_runtimes)
    if not _may_profile(bits):
        losses.append(_PROFILES)
    if "SYS_RESOURCE" not in held and _older(facts, _MEMORY_BY_CGROUP):
        losses.append(f"room for BPF maps in {_PROFILES}: this kernel limits locked memory")
    if not losses:
        return _ok(f"{who}: {found}")
    lacking = " ".join(f"CAP_{name}" for name in _CAPABILITIES if name not in held)
    remedy = f"give observe {lacking}" if facts.user == 0 else f"{_AS_ROOT}: it adds {lacking}"
    return _limited(f"{who}: {found}", lost="; ".join(losses), remedy=remedy)


def _open_files(facts: Facts) -> _Answer:
    if isinstance(facts.open_files, Unread):
        return _unclear(facts.open_files, "how many files may be open is not known")
    hard = facts.open_files.hard
    if hard is None or hard >= _FILES:
        return _ok("no limit" if hard is None else str(hard))
    return _limited(
        str(hard),
        lost="counters of some workloads, once there are more than it allows (six files for each)",
        remedy=f"raise the hard limit (ulimit -Hn, LimitNOFILE=) to {_FILES} or more",
    )


def _swap(facts: Facts) -> _Answer:
    areas = None if isinstance(facts.swaps, Unread) else readings.swap_areas(facts.swaps)
    if areas == 0 or (isinstance(facts.swaps, Unread) and facts.swaps.absent):
        return _ok("off")
    if areas is None:
        return _unclear(facts.swaps, "whether memory is swapped out is not known")
    return _limited(
        f"on: {areas} area" + ("s" if areas > 1 else ""),
        lost="memory of a workload leaves out what was swapped; and secrets could reach the disk",
        remedy="swapoff -a, as Kubernetes nodes have it; or encrypt the swap",
    )


def _kernel(facts: Facts) -> _Answer:
    version = readings.release(facts.kernel)
    newer = "Linux 5.8 or newer; 5.11 or newer needs one right less"
    if version is None:
        return _limited(
            facts.kernel or "it has no name",
            lost=f"whether {_PROFILES} can run is not known",
            remedy=newer,
        )
    if version < _RING_BUFFER:
        return _limited(
            facts.kernel,
            lost=f"{_PROFILES}: before 5.8 there is neither a BPF ring buffer nor CAP_BPF, unless "
            "the distribution carried them back",
            remedy=newer,
        )
    return _ok(facts.kernel)


def _btf(facts: Facts) -> _Answer:
    if facts.btf is True:
        return _ok("/sys/kernel/btf/vmlinux")
    return _limited(
        facts.btf.reason if isinstance(facts.btf, Unread) else "empty",
        lost=f"{_PROFILES}: their programs fit themselves to a kernel by it",
        remedy="a kernel with CONFIG_DEBUG_INFO_BTF; in a container, /sys of the machine",
    )


def _libbpf(facts: Facts) -> _Answer:
    if isinstance(facts.libbpf, str):
        return _ok(facts.libbpf)
    return _limited(
        facts.libbpf.reason,
        lost=f"{_PROFILES}: it loads their programs",
        remedy="install libbpf.so.1 (Debian and Ubuntu: libbpf1; Fedora and RHEL 9: libbpf)",
    )


def _bpf(facts: Facts) -> _Answer:
    value, text = _setting(facts.unprivileged_bpf_disabled)
    if value is not None and (value == 0 or _may_profile(_bits(facts))):
        return _ok(text)
    read = facts.unprivileged_bpf_disabled
    if isinstance(read, Unread) and read.absent and _may_profile(_bits(facts)):
        return _ok("not there: this kernel does not restrict it")
    return _limited(
        text,
        lost=f"{_PROFILES}: without CAP_BPF no program may be loaded",
        remedy=_AS_ROOT,
    )


def _paranoid(facts: Facts) -> _Answer:
    value, text = _setting(facts.perf_event_paranoid)
    if value is None and isinstance(facts.perf_event_paranoid, Unread):
        return _limited(
            text,
            lost=f"{_PROFILES}: the kernel may have no perf events",
            remedy="a kernel with CONFIG_PERF_EVENTS; in a container, /proc/sys readable",
        )
    if value is not None and (value < 1 or _may_profile(_bits(facts))):
        return _ok(text)
    return _limited(
        text,
        lost=f"{_PROFILES}: from 1 on, only CAP_PERFMON may sample a whole CPU",
        remedy=f"{_AS_ROOT}; sysctl kernel.perf_event_paranoid=0 is the weaker way",
    )


def _sample_rate(facts: Facts) -> _Answer:
    value, text = _setting(facts.perf_event_max_sample_rate)
    if value is not None and value >= _PROFILE_HZ:
        return _ok(f"{text} Hz")
    return _limited(
        text,
        lost=f"{_PROFILES} of {_PROFILE_HZ} Hz",
        remedy="sysctl kernel.perf_event_max_sample_rate=100000; the kernel lowers it by itself "
        "when samples take too long",
    )


def _kptr(facts: Facts) -> _Answer:
    """kernel/ksyms_common.c, kallsyms_show_value()."""
    value, text = _setting(facts.kptr_restrict)
    bits = _bits(facts)
    paranoid, _ = _setting(facts.perf_event_paranoid)
    syslog = bool(bits >> _CAPABILITIES["SYSLOG"] & 1)
    if value is not None and value <= 1:
        if syslog or (value == 0 and paranoid is not None and paranoid <= 1):
            return _ok(text)
        return _limited(
            text,
            lost=f"names of kernel functions in {_PROFILES}, without CAP_SYSLOG",
            remedy=_AS_ROOT if facts.user else "give observe CAP_SYSLOG",
        )
    return _limited(
        text,
        lost=f"names of kernel functions in {_PROFILES}",
        remedy="sysctl kernel.kptr_restrict=1",
    )


def _ptrace(facts: Facts) -> _Answer:
    """Documentation/admin-guide/LSM/Yama.rst. Reading /proc/PID/exe is not an attachment."""
    if isinstance(facts.ptrace_scope, Unread) and facts.ptrace_scope.absent:
        return _ok("not there: Yama restricts nothing")
    value, text = _setting(facts.ptrace_scope)
    may = bool(_bits(facts) >> _CAPABILITIES["SYS_PTRACE"] & 1)
    if value == 0 or (value in (1, 2) and may):
        return _ok(text)
    return _limited(
        text,
        lost=f"{_HEAP}: the memory of "
        + (
            "no process may be read"
            if value == 3
            else "others may be read with CAP_SYS_PTRACE only"
        ),
        remedy="set kernel.yama.ptrace_scope=1 in sysctl.d and boot: 3 stays until then"
        if value == 3
        else _AS_ROOT,
    )


def _lockdown(facts: Facts) -> _Answer:
    if isinstance(facts.lockdown, Unread) and facts.lockdown.absent:
        return _ok("not there: nothing is locked, or securityfs is not mounted")
    mode = None if isinstance(facts.lockdown, Unread) else readings.chosen(facts.lockdown)
    if mode in ("none", "integrity"):
        return _ok(mode)
    if mode is None:
        return _unclear(facts.lockdown, f"whether {_PROFILES} may read the kernel is not known")
    return _limited(
        mode,
        lost=f"{_PROFILES}: BPF programs may not read the kernel's memory",
        remedy="boot with lockdown=integrity",
    )


_JUDGES: dict[Question, Callable[[Facts], _Answer]] = {
    Question.SPACE: _space,
    Question.PIDFD: _pidfd,
    Question.PROCESSES: _processes,
    Question.CGROUPS: _cgroups,
    Question.PRESSURE: _pressure,
    Question.CAPABILITIES: _capabilities,
    Question.OPEN_FILES: _open_files,
    Question.SWAP: _swap,
    Question.KERNEL: _kernel,
    Question.BTF: _btf,
    Question.LIBBPF: _libbpf,
    Question.BPF: _bpf,
    Question.PARANOID: _paranoid,
    Question.SAMPLE_RATE: _sample_rate,
    Question.KPTR: _kptr,
    Question.PTRACE: _ptrace,
    Question.LOCKDOWN: _lockdown,
}


def _unclear(read: object, lost: str) -> _Answer:
    found = read.reason if isinstance(read, Unread) else _DISTRUSTED
    return _limited(
        found, lost=lost, remedy="run `nemutator doctor` as root, outside of a container"
    )


def _setting(text: Text) -> tuple[int | None, str]:
    if isinstance(text, Unread):
        return None, text.reason
    value = readings.number(text)
    return value, _DISTRUSTED if value is None else str(value)


def _mounts(facts: Facts) -> readings.Mounts | None:
    return None if isinstance(facts.mountinfo, Unread) else readings.mounts(facts.mountinfo)


def _bits(facts: Facts) -> int:
    """What counts for the machine: in a user namespace of its own, root is nobody out there."""
    if isinstance(facts.status, Unread) or _contained(facts):
        return 0
    return readings.capabilities(facts.status) or 0


def _contained(facts: Facts) -> bool:
    known = isinstance(facts.uid_map, str)
    return known and not readings.in_initial_namespace(str(facts.uid_map))


def _may_profile(bits: int) -> bool:
    """CAP_SYS_ADMIN stands for both, as it did before 5.8."""
    both = bits >> _CAPABILITIES["BPF"] & 1 and bits >> _CAPABILITIES["PERFMON"] & 1
    return bool(both or bits >> _CAPABILITIES["SYS_ADMIN"] & 1)


def _older(facts: Facts, version: tuple[int, int]) -> bool:
    release = readings.release(facts.kernel)
    return release is not None and release < version
