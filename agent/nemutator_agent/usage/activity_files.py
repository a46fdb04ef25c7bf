"""Files that count what a control group did beside CPU and memory, versions 1 and 2."""

from collections.abc import Collection
from typing import NamedTuple

from nemutator_agent.usage.malformed import MalformedError, whole

_NS_PER_US = 1000

_MOST_DEVICES = 1024
"""Lines of io.stat that are looked at: a machine with more disks counts too little, never for ever."""


class Throttling(NamedTuple):
    periods: int
    throttled_periods: int
    throttled_us: int


class MovedBytes(NamedTuple):
    read: int
    written: int


def parse_throttling(content: bytes, *, version: int) -> Throttling:
    """cpu.stat; without a limit the kernel counts no periods, and leaves the lines out or zero."""
    values = dict(line.split(b" ", 1) for line in content.splitlines() if b" " in line)
    try:
        periods, throttled = values[b"nr_periods"], values[b"nr_throttled"]
        spent = values[b"throttled_usec" if version == 2 else b"throttled_time"]
    except KeyError as missing:
        raise MalformedError(f"cpu.stat: expected a line {missing}") from None
    units = whole(spent.strip(), "cpu.stat")
    return Throttling(
        whole(periods.strip(), "cpu.stat"),
        whole(throttled.strip(), "cpu.stat"),
        units if version == 2 else units // _NS_PER_US,
    )


def parse_io_stat(content: bytes, devices: Collection[bytes]) -> MovedBytes:
    """io.stat of version 2: `8:0 rbytes=1 wbytes=2 …`. Only *devices* count: what goes through LVM, RAID
    or a loop device is counted again at the disk that it reaches."""
    read = written = 0
    for line in content.splitlines()[:_MOST_DEVICES]:
        words = line.split()
        if not words or words[0] not in devices:
            continue
        for pair in words[1:]:
            name, _, value = pair.partition(b"=")
            if name == b"rbytes":
                read += whole(value, "io.stat")
            elif name == b"wbytes":
                written += whole(value, "io.stat")
    return MovedBytes(read, written)


def parse_blkio(content: bytes, devices: Collection[bytes]) -> MovedBytes:
    """blkio.throttle.io_service_bytes of version 1: `8:0 Read 1`, a line for each operation."""
    read = written = 0
    for line in content.splitlines()[: 8 * _MOST_DEVICES]:
        words = line.split()
        if len(words) != 3 or words[0] not in devices:
            continue
        if words[1] == b"Read":
            read += whole(words[2], "blkio")
        elif words[1] == b"Write":
            written += whole(words[2], "blkio")
    return MovedBytes(read, written)


def names_disks(content: bytes) -> bool:
    """Whether a file of version 1 says anything of a disk. Its sum is there even where the kernel counts nothing."""
    return any(len(line.split()) == 3 for line in content.splitlines()[: 8 * _MOST_DEVICES])


def parse_run_delay_ns(content: bytes) -> int:
    """/proc/PID/task/TID/schedstat: time on a CPU, time ready without one, number of turns."""
    words = content.split()
    if len(words) < 3:
        raise MalformedError("schedstat: expected three numbers")
    return whole(words[1], "schedstat")
