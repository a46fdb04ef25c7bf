"""CPU time by the kernel's own counters, with which the samples are compared."""

import re

_NS_PER_S = 1e9
_US_PER_S = 1e6


def parse_cpu_stat(content: bytes) -> float | None:
    """Seconds from cpu.stat of version 2."""
    found = re.search(rb"^usage_usec (\d{1,20})$", content, re.MULTILINE)
    return int(found[1]) / _US_PER_S if found else None


def parse_cpuacct_usage(content: bytes) -> float | None:
    """Seconds from cpuacct.usage of version 1."""
    digits = content.strip()
    return int(digits) / _NS_PER_S if re.fullmatch(rb"\d{1,20}", digits) else None


def parse_process_cpu(content: bytes, *, ticks_per_s: int) -> float | None:
    """Seconds in user and kernel mode from /proc/PID/stat, with those of ended threads."""
    user, kernel = _stat_field(content, 14), _stat_field(content, 15)
    return None if user is None or kernel is None else (user + kernel) / ticks_per_s


def parse_process_start(content: bytes) -> int | None:
    """The start of the process from /proc/PID/stat, in ticks since boot: it tells apart processes that
    had the same number."""
    return _stat_field(content, 22)


def parse_process_image(content: bytes) -> int:
    """Where the stack of a process begins, from /proc/PID/stat: each exec moves it. 0 when the kernel
    does not show it."""
    return _stat_field(content, 28) or 0


def is_kernel_thread(content: bytes) -> bool:
    """By /proc/PID/stat: PF_KTHREAD of include/linux/sched.h."""
    return bool((_stat_field(content, 9) or 0) & 0x00200000)


def spent(before: float | None, after: float | None) -> float | None:
    """CPU time between two readings; None when one is missing or it ran backwards."""
    if before is None or after is None or after < before:
        return None
    return after - before


def _stat_field(content: bytes, number: int) -> int | None:
    """A field after the second, by its number in proc(5). The second is the name that the process gave
    itself, which may hold anything, also `)`."""
    fields = content[content.rfind(b")") + 1 :].split()
    index = number - 3
    return int(fields[index]) if len(fields) > index and fields[index].isdigit() else None
