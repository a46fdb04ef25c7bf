"""What sampling needs of the machine, checked by name before the kernel says a mere EPERM."""

import re
from dataclasses import dataclass

from nemutator_agent.profiler.refusals import ProfileRefused

OLDEST_KERNEL = (5, 8)
"""CAP_BPF and CAP_PERFMON, batches on hash maps, and the helper that knows ancestors' cgroups."""

INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""The inode of the first namespace of each kind is fixed (include/linux/proc_ns.h)."""

_SYS_ADMIN, _PERFMON, _BPF = 21, 38, 39


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


def missing(facts: SamplerFacts) -> ProfileRefused | None:
    """The first thing that stands in the way of sampling; None when the kernel may be asked."""
    version = _version(facts.release)
    if version is not None and version < OLDEST_KERNEL:
        oldest = ".".join(map(str, OLDEST_KERNEL))
        return ProfileRefused(
            "kernel",
            f"kernel {facts.release[:64]} is too old to be sampled",
            remedy=f"run Linux {oldest} or newer on this node",
        )
    if not facts.btf:
        return ProfileRefused(
            "kernel",
            "the kernel has no BTF (/sys/kernel/btf/vmlinux is not there)",
            remedy="run a kernel that is built with CONFIG_DEBUG_INFO_BTF=y",
        )
    lacking = _lacking(facts.capabilities)
    if lacking:
        return ProfileRefused(
            "rights",
            f"the agent may not load BPF programs: it lacks {' and '.join(lacking)}",
            remedy="run `nemutator-agent observe` as root, or give it these capabilities",
        )
    if facts.pid_namespace != INITIAL_PID_NAMESPACE:
        return ProfileRefused(
            "rights",
            "the agent is in a pid namespace of its own, where processes have other numbers",
            remedy="run it with hostPID: true (docker: --pid=host)",
        )
    return None


def _version(release: str) -> tuple[int, int] | None:
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", release)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def _lacking(capabilities: int) -> list[str]:
    if capabilities >> _SYS_ADMIN & 1:
        return []
    wanted = {"CAP_BPF": _BPF, "CAP_PERFMON": _PERFMON}
    return [name for name, bit in wanted.items() if not capabilities >> bit & 1]
