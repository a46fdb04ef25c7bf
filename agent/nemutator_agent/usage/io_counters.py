"""What the machine's disks and network have moved since it was started, by psutil.

Each byte is counted once: only devices with hardware (or a hypervisor) behind them count. Partitions,
loop devices, RAID, LVM, loopback, bridges, tunnels and the interfaces of pods lead through these, or
nowhere.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping

import psutil

from nemutator_agent.usage.snapshot import IoCounters

_UNREAD = (OSError, ValueError, AssertionError, NotImplementedError)
"""What psutil raises where the kernel's file is not there, or has an unknown form."""


def read_io_counters(*, root: str = "") -> IoCounters:
    """Read the counters; /proc and /sys are memory, so this waits for no device. *root* is for tests."""
    # A container has a network of its own, and its /sys shows that one, but the machine's first
    # process is in the machine's network. Where it may not be read, there is no container, or only
    # the container's network is seen.
    first = f"{root}/proc/1"
    beside = os.path.join(first, "root", "sys")
    sysfs = beside if os.path.isdir(f"{beside}/class/net") else f"{root}/sys"
    read, written = _moved(_disks(f"{root}/proc"), f"{sysfs}/block")
    received, sent = _moved(_networks(first), f"{sysfs}/class/net")
    return IoCounters(
        disk_read_bytes=read,
        disk_written_bytes=written,
        network_received_bytes=received,
        network_sent_bytes=sent,
    )


@contextlib.contextmanager
def _reading(procfs: str) -> Iterator[None]:
    """Let psutil read below *procfs*: a global variable is the only way, and others use psutil, too."""
    before, psutil.PROCFS_PATH = psutil.PROCFS_PATH, procfs
    try:
        yield
    finally:
        psutil.PROCFS_PATH = before


def _disks(procfs: str) -> Mapping[str, tuple[int, int]]:
    with contextlib.suppress(*_UNREAD), _reading(procfs):
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False)
        return {name: (one.read_bytes, one.write_bytes) for name, one in counters.items()}
    return {}


def _networks(procfs: str) -> Mapping[str, tuple[int, int]]:
    with contextlib.suppress(*_UNREAD), _reading(procfs):
        counters = psutil.net_io_counters(pernic=True, nowrap=False)
        return {name: (one.bytes_recv, one.bytes_sent) for name, one in counters.items()}
    return {}


def _moved(
    counters: Mapping[str, tuple[int, int]], devices: str
) -> tuple[int, int] | tuple[None, None]:
    """The sums in both directions; None where there is no device."""
    # A slash in a device's name is an exclamation mark in that of its directory.
    real = [
        pair
        for name, pair in counters.items()
        if os.path.exists(f"{devices}/{name.replace('/', '!')}/device")
    ]
    return (sum(into for into, _ in real), sum(out for _, out in real)) if real else (None, None)
