"""What sampling needs of the machine, checked by name before the kernel says a mere EPERM."""

import re
from dataclasses import dataclass
from typing import Literal

from nemutator_common import names

from nemutator_agent.profiler.refusals import ProfileRefused

OLDEST_KERNEL = (5, 8)
"""CAP_BPF and CAP_PERFMON, batches on hash maps, and the helper that knows ancestors' cgroups."""

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""The inode of the first namespace of each kind is fixed (include/linux/proc_ns.h)."""

RIGHTS = {"CAP_BPF": 39, "CAP_PERFMON": 38}
"""With their bits (include/uapi/linux/capability.h)."""

RIGHTS_REMEDY = f"{names.AS_ROOT}; in a cluster, give its container {' and '.join(RIGHTS)}"

Requirement = Literal["kernel", "btf", "rights", "pid_namespace"]

_SYS_ADMIN = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerFacts:
    release: str
    """As uname says it: `6.1.0-38-amd64`."""
    btf: bool
    capabilities: int
    """CapEff of this process, as in /proc/self/status."""
    pid_namespace: int
    """The inode of this process's own."""


def parse_capabilities(status: bytes) -> int:
    """CapEff of /proc/PID/status; 0 when it is not there."""
    found = re.search(rb"^CapEff:\s*([0-9a-fA-F]{1,16})$", status, re.MULTILINE)
    return int(found[1], 16) if found else 0


def obstacles(facts: SamplerFacts) -> dict[Requirement, ProfileRefused]:
    """All that stands in the way of sampling; when nothing does, the kernel may be asked."""
    found: dict[Requirement, ProfileRefused] = {}
    version = _version(facts.release)
    if version is not None and version < OLDEST_KERNEL:
        oldest = ".".join(map(str, OLDEST_KERNEL))
        found["kernel"] = ProfileRefused(
            "kernel",
            f"kernel {facts.release[:64]} is too old to be sampled",
            remedy=f"run Linux {oldest} or newer on this node",
        )
    if not facts.btf:
        found["btf"] = ProfileRefused(
            "kernel",
            "the kernel has no BTF (/sys/kernel/btf/vmlinux is not there)",
            remedy="run a kernel that is built with CONFIG_DEBUG_INFO_BTF=y",
        )
    if lacks := lacking(facts.capabilities):
        found["rights"] = ProfileRefused(
            "rights",
            f"the agent may not load BPF programs: it lacks {' and '.join(lacks)}",
            remedy=RIGHTS_REMEDY,
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


def lacking(capabilities: int) -> tuple[str, ...]:
    """The rights that are missing. CAP_SYS_ADMIN stands for both, as it did before Linux 5.8."""
    if capabilities >> _SYS_ADMIN & 1:
        return ()
    return tuple(name for name, bit in RIGHTS.items() if not capabilities >> bit & 1)


def _version(release: str) -> tuple[int, int] | None:
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", release)
    return (int(numbers[1]), int(numbers[2])) if numbers else None
