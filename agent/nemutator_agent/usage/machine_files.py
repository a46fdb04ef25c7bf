"""The files about the whole machine: /proc/stat, meminfo, loadavg and os-release."""

import re
from dataclasses import dataclass

from nemutator_agent.usage.malformed import MalformedError, whole

# /proc/stat: user nice system idle iowait irq softirq steal; guest time is already in user time.
# Idle and iowait are not counted as use, and steal is the use of another machine.
_BUSY = (0, 1, 2, 5, 6)

_KIB = 1024

_UNLIMITED = 1 << 60

_MEMINFO = (b"MemTotal", b"MemFree", b"Inactive(file)", b"MemAvailable", b"SwapTotal", b"SwapFree")


@dataclass(frozen=True, slots=True)
class CpuTimes:
    busy_ticks: int
    cpus: int
    """The CPUs that are online now."""
    booted_at: int
    """Seconds since the epoch. The kernel derives it from the clock, so it moves when that is set."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    total_bytes: int
    used_bytes: int
    """What is not free, without the inactive page cache, which nobody touched lately."""
    available_bytes: int
    """The kernel's estimate of what programs could get without swapping."""
    swap_used_bytes: int


def parse_cpu_times(content: bytes) -> CpuTimes:
    busy_ticks = booted_at = None
    cpus = 0
    for line in content.splitlines():
        name, _, rest = line.partition(b" ")
        if name == b"cpu":
            values = rest.split()
            if len(values) <= max(_BUSY):
                raise MalformedError("/proc/stat: expected 7 numbers after cpu")
            busy_ticks = sum(whole(values[position], "/proc/stat") for position in _BUSY)
        elif name.startswith(b"cpu"):
            cpus += 1
        elif name == b"btime":
            booted_at = whole(rest.strip(), "/proc/stat")
    if busy_ticks is None or booted_at is None or cpus == 0:
        raise MalformedError("/proc/stat: expected lines cpu, cpu0 and btime")
    return CpuTimes(busy_ticks, cpus, booted_at)


def parse_memory_use(content: bytes) -> MemoryUse:
    values = {
        name: value.split()[0]
        for name, _, value in (line.partition(b":") for line in content.splitlines())
        if value.strip()
    }
    try:
        total, free, inactive, available, swap_total, swap_free = (
            whole(values[name], "/proc/meminfo") * _KIB for name in _MEMINFO
        )
    except KeyError as missing:
        raise MalformedError(f"/proc/meminfo: expected a line {missing}") from None
    return MemoryUse(
        total_bytes=total,
        used_bytes=max(total - free - inactive, 0),
        available_bytes=min(available, total),
        swap_used_bytes=max(swap_total - swap_free, 0),
    )


def parse_load_1m(content: bytes) -> float:
    first = content.split(maxsplit=1)[:1]
    if not first or not re.fullmatch(rb"[0-9]{1,9}\.[0-9]{1,9}", first[0]):
        raise MalformedError("/proc/loadavg: expected a number")
    return float(first[0])


def parse_pids(content: bytes) -> int:
    """The processes and threads of the machine: `0.50 0.40 0.30 running/ALL last`."""
    words = content.split()
    running, slash, total = words[3].partition(b"/") if len(words) > 3 else (b"", b"", b"")
    if not (running and slash):
        raise MalformedError("/proc/loadavg: expected running/all")
    return whole(total, "/proc/loadavg")


def parse_limit(content: bytes) -> int | None:
    """A limit of a control group: `max`, or for version 1 more than any machine has, is none."""
    text = content.strip()
    if text == b"max":
        return None
    limit = whole(text, "limit of a control group")
    return limit if limit < _UNLIMITED else None


def parse_system_name(content: bytes) -> bytes | None:
    """The system's name from os-release(5), for people; None when the file does not say."""
    values = {
        name.strip(): value.strip()
        for name, _, value in (line.partition(b"=") for line in content.splitlines())
    }
    for name in (b"PRETTY_NAME", b"NAME"):
        if value := _unquoted(values.get(name, b"")):
            return value
    return None


def _unquoted(value: bytes) -> bytes:
    """The value as a shell would read it (os-release(5))."""
    if len(value) >= 2 and value[:1] == value[-1:] and value[:1] in (b'"', b"'"):
        quote, value = value[:1], value[1:-1]
        return value if quote == b"'" else re.sub(rb'\\(["$`\\])', rb"\1", value)
    return value
