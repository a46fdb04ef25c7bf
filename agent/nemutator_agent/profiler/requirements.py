"""What sampling needs of the machine, named before the kernel answers with a mere EPERM."""

import re
from dataclasses import dataclass
from typing import Literal

from nemutator_common import names

from nemutator_agent.profiler.refusals import ProfileRefused

OLDEST_KERNEL = (5, 8)
"""CAP_BPF and CAP_PERFMON. All else is older: batches on hash maps (5.6), reading kernel and user
memory apart (5.5), 64-bit ids of control groups (5.5), bounded loops (5.3)."""

PROCESSORS = ("x86_64", "aarch64")
"""Those that the sampling program is compiled for, as uname names them."""

MEMORY_BY_CGROUP = (5, 11)
"""Kernels before this one count the memory of BPF maps as locked, which has a limit."""

LOCKED_BYTES = 16 << 20
"""What the maps of one session take there."""

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""The inode of the first namespace of each kind is fixed (include/linux/proc_ns.h)."""

RIGHTS = {"CAP_BPF": 39, "CAP_PERFMON": 38}
"""With their bits (include/uapi/linux/capability.h)."""

RIGHTS_REMEDY = f"{names.AS_ROOT}; in a cluster, give its container {' and '.join(RIGHTS)}"

STRICTEST_PARANOID = 2
"""Of the kernel itself. Those of Debian and Ubuntu know 3 and 4, and then may give perf events to
CAP_SYS_ADMIN alone, which no sampler should have."""

Requirement = Literal["kernel", "processor", "btf", "bcc", "rights", "memory", "pid_namespace"]

Engine = Literal["libbpf", "bcc"]
"""What brings the sampling program into the kernel. libbpf loads the one that is compiled already, by the
kernel's BTF; bcc compiles it on the node, by the kernel's headers."""

EngineChoice = Literal["auto", "libbpf", "bcc"]

BCC_REMEDY = "apt-get install python3-bpfcc linux-headers-$(uname -r)"
"""Of Debian and Ubuntu. The package `bcc` of Python's index is another thing."""

_SYS_ADMIN = 21
_SYS_RESOURCE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerFacts:
    release: str
    """The kernel's release, as uname shows it: `6.1.0-38-amd64`."""
    processor: str
    """Its type, as uname shows it: `x86_64`."""
    btf: bool
    bcc: bool = False
    """Whether the distribution's bcc for Python is installed."""
    headers: bool = False
    """Whether the kernel's headers are there."""
    choice: EngineChoice = "auto"
    capabilities: int
    """CapEff of this process, as in /proc/self/status."""
    locked_bytes: int
    """How much memory this process may lock; -1 is no limit."""
    pid_namespace: int
    """The inode of this process's own."""


def parse_capabilities(status: bytes) -> int:
    """CapEff of /proc/PID/status; 0 when it is not there."""
    found = re.search(rb"^CapEff:\s*([0-9a-fA-F]{1,16})$", status, re.MULTILINE)
    return int(found[1], 16) if found else 0


def engine(facts: SamplerFacts) -> Engine:
    """The one that samples: libbpf where the kernel has BTF, and bcc where it has none and bcc is there."""
    if facts.choice != "auto":
        return facts.choice
    return "bcc" if not facts.btf and facts.bcc and facts.headers else "libbpf"


def _engine_obstacle(facts: SamplerFacts) -> tuple[Requirement, ProfileRefused] | None:
    if engine(facts) == "libbpf":
        if facts.btf:
            return None
        return "btf", ProfileRefused(
            "kernel",
            "the kernel has no BTF (/sys/kernel/btf/vmlinux is not there)",
            remedy="run a kernel that is built with CONFIG_DEBUG_INFO_BTF=y, or have bcc sample"
            f" ({BCC_REMEDY})",
        )
    lacks = [
        what
        for what, there in {
            "python3-bpfcc": facts.bcc,
            "the kernel's headers": facts.headers,
        }.items()
        if not there
    ]
    if not lacks:
        return None
    return "bcc", ProfileRefused(
        "kernel",
        f"bcc cannot compile the sampling program: {' and '.join(lacks)} are not installed",
        remedy=f"{BCC_REMEDY}; where the kernel has BTF, leave the choice of the engine to the agent",
    )


def obstacles(facts: SamplerFacts) -> dict[Requirement, ProfileRefused]:
    """All that stands in the way of sampling; when nothing does, it is tried."""
    found: dict[Requirement, ProfileRefused] = {}
    version = _version(facts.release)
    if version is not None and version < OLDEST_KERNEL:
        oldest = ".".join(map(str, OLDEST_KERNEL))
        found["kernel"] = ProfileRefused(
            "kernel",
            f"kernel {facts.release[:64]} is too old to be sampled",
            remedy=f"run Linux {oldest} or newer on this node",
        )
    if facts.processor not in PROCESSORS:
        found["processor"] = ProfileRefused(
            "kernel",
            f"there is no sampling program for processors of type {facts.processor[:64]}",
            remedy=f"profile on {' or '.join(PROCESSORS)}",
        )
    if obstacle := _engine_obstacle(facts):
        found[obstacle[0]] = obstacle[1]
    if lacks := lacking(facts.capabilities):
        found["rights"] = ProfileRefused(
            "rights",
            f"the agent may not load BPF programs: it lacks {' and '.join(lacks)}",
            remedy=RIGHTS_REMEDY,
        )
    limited = version is not None and version < MEMORY_BY_CGROUP and facts.locked_bytes >= 0
    # libbpf takes the limit away by itself where it may.
    if (
        limited
        and facts.locked_bytes < LOCKED_BYTES
        and not facts.capabilities >> _SYS_RESOURCE & 1
    ):
        found["memory"] = ProfileRefused(
            "rights",
            f"before Linux 5.11 a session needs {LOCKED_BYTES >> 20} MiB of locked memory, and the"
            f" agent may lock {facts.locked_bytes >> 10} KiB",
            remedy="give it CAP_SYS_RESOURCE, or raise the limit (systemd: LimitMEMLOCK=)",
        )
    if facts.pid_namespace != INITIAL_PID_NAMESPACE:
        found["pid_namespace"] = ProfileRefused(
            "rights",
            "the agent is in a pid namespace of its own, where processes have other numbers",
            remedy="run it with hostPID: true (docker: --pid=host)",
        )
    return found


def missing(facts: SamplerFacts) -> ProfileRefused | None:
    """The first of all obstacles."""
    return next(iter(obstacles(facts).values()), None)


def no_perf_events(paranoid: int) -> ProfileRefused:
    """Why the kernel gives none to a process that has the rights; *paranoid* is its setting."""
    what = "the kernel does not let the agent sample this node (perf_event_open)"
    if paranoid <= STRICTEST_PARANOID:
        return ProfileRefused("rights", what, remedy=RIGHTS_REMEDY)
    return ProfileRefused(
        "rights",
        f"{what}: kernel.perf_event_paranoid is {paranoid}",
        remedy=f"sysctl kernel.perf_event_paranoid={STRICTEST_PARANOID} on the node, and in its sysctl.d",
    )


def lacking(capabilities: int) -> tuple[str, ...]:
    """The rights that are missing. CAP_SYS_ADMIN stands for both, as it did before Linux 5.8."""
    if capabilities >> _SYS_ADMIN & 1:
        return ()
    return tuple(name for name, bit in RIGHTS.items() if not capabilities >> bit & 1)


def _version(release: str) -> tuple[int, int] | None:
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", release)
    return (int(numbers[1]), int(numbers[2])) if numbers else None
