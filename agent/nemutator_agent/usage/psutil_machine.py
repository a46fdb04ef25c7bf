"""The machine's disks, network and sensors, by psutil.

Each byte is counted once: only devices with hardware (or a hypervisor) behind them count. Partitions,
loop devices, RAID, LVM, loopback, bridges, tunnels and the interfaces of pods lead through these, or
nowhere.
"""

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping

import psutil
from nemutator_common.wire_activity import FileSystem, Temperature

from nemutator_agent.usage.cached_files import read_once
from nemutator_agent.usage.mount_table import mounted_disks
from nemutator_agent.usage.network_files import InterfaceCounters
from nemutator_agent.usage.snapshot import InterfaceLink, IoCounters, MachineDevices
from nemutator_agent.usage.text import clean

_LONGEST = 253
_MOST_INTERFACES = 256
_MOST_SENSORS = 64
_COLDEST, _HOTTEST = -100.0, 1000.0
"""A driver without a sensor behind it says anything."""

_UNREAD = (OSError, ValueError, AssertionError, NotImplementedError)
"""What psutil raises where the kernel's file is not there, or has an unknown form."""


def read_io_counters(*, root: str = "") -> IoCounters:
    """Read the counters; /proc and /sys are memory, so this waits for no device. *root* is for tests."""
    # A container has a network of its own, and its /sys shows that one, but the machine's first
    # process is in the machine's network. Where it may not be read, there is no container, or only
    # the container's network is seen.
    sysfs = _sysfs(root)
    read, written = _moved(_disks(f"{root}/proc"), f"{sysfs}/block")
    interfaces = {
        name: one
        for name, one in _networks(f"{root}/proc/1").items()
        if _is_hardware(name, f"{sysfs}/class/net")
    }
    received = sum(one.received_bytes for one in interfaces.values()) if interfaces else None
    sent = sum(one.sent_bytes for one in interfaces.values()) if interfaces else None
    return IoCounters(
        disk_read_bytes=read,
        disk_written_bytes=written,
        network_received_bytes=received,
        network_sent_bytes=sent,
        interfaces=interfaces,
    )


def read_devices(*, root: str = "") -> MachineDevices:
    """What changes slowly. A sensor may take some milliseconds, so this is for once a minute."""
    sysfs = _sysfs(root)
    first = f"{root}/proc/1"
    # A container has mounts of its own, too.
    seen = os.path.isdir(os.path.join(first, "root", "."))
    base = os.path.join(first, "root") if seen else root
    table = read_once(f"{first}/mountinfo") if seen else read_once(f"{root}/proc/self/mountinfo")
    names = itertools.islice(_networks(first), _MOST_INTERFACES)
    hardware = [name for name in names if _is_hardware(name, f"{sysfs}/class/net")]
    return MachineDevices(
        file_systems=tuple(_file_systems(table or b"", base)),
        links={name: _link(f"{sysfs}/class/net/{name}") for name in hardware},
        temperatures=() if root else tuple(_temperatures()),
    )


def _file_systems(mountinfo: bytes, base: str) -> Iterator[FileSystem]:
    for one in mounted_disks(mountinfo):
        with contextlib.suppress(OSError):
            usage = psutil.disk_usage(f"{base}{one.path}")
            yield FileSystem(
                path=clean(one.path, longest=_LONGEST),
                device=clean(one.device, longest=_LONGEST),
                kind=clean(one.kind, longest=_LONGEST),
                total_bytes=usage.total,
                used_bytes=usage.used,
            )


def _link(directory: str) -> InterfaceLink:
    """By the kernel's files: psutil would ask the network that this process is in."""
    state = (read_once(f"{directory}/operstate") or b"").strip()
    # An interface that is down has no speed, and a virtual one says -1.
    speed = (read_once(f"{directory}/speed") or b"").strip()
    return InterfaceLink(
        None if state in (b"", b"unknown") else state == b"up",
        int(speed) if speed.isdigit() and len(speed) < 10 else None,
    )


def _temperatures() -> Iterator[Temperature]:
    try:
        found = psutil.sensors_temperatures()
    except (*_UNREAD, AttributeError):
        return
    readings = ((chip, one) for chip, several in sorted(found.items()) for one in several)
    for chip, one in itertools.islice(readings, _MOST_SENSORS):
        if _COLDEST <= one.current <= _HOTTEST:
            name = f"{chip} {one.label}".strip()
            yield Temperature(clean(name, longest=_LONGEST), round(one.current, 1))


def _sysfs(root: str) -> str:
    beside = os.path.join(root or "/", "proc", "1", "root", "sys")
    return beside if os.path.isdir(f"{beside}/class/net") else f"{root}/sys"


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


def _networks(procfs: str) -> Mapping[str, InterfaceCounters]:
    with contextlib.suppress(*_UNREAD), _reading(procfs):
        counters = psutil.net_io_counters(pernic=True, nowrap=False)
        return {
            name: InterfaceCounters(
                received_bytes=one.bytes_recv,
                sent_bytes=one.bytes_sent,
                received_packets=one.packets_recv,
                sent_packets=one.packets_sent,
                drops=one.dropin + one.dropout,
                errors=one.errin + one.errout,
            )
            for name, one in counters.items()
        }
    return {}


def _moved(
    counters: Mapping[str, tuple[int, int]], devices: str
) -> tuple[int, int] | tuple[None, None]:
    """The sums in both directions; None where there is no device."""
    real = [pair for name, pair in counters.items() if _is_hardware(name, devices)]
    return (sum(into for into, _ in real), sum(out for _, out in real)) if real else (None, None)


def _is_hardware(name: str, devices: str) -> bool:
    # A slash in a device's name is an exclamation mark in that of its directory.
    return os.path.exists(f"{devices}/{name.replace('/', '!')}/device")
