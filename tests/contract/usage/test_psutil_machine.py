"""What disks and network moved: on trees of machines of other kinds, and on this one."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from nemutator_agent.usage.network_files import InterfaceCounters
from nemutator_agent.usage.psutil_machine import read_devices, read_io_counters
from nemutator_agent.usage.snapshot import InterfaceLink, IoCounters

from tests.contract.usage.trees import plant_devices

DISKS = {"vda": (10, 20), "vda1": (9, 19), "dm-0": (9, 19), "loop0": (5, 5), "sdb": (1, 2)}
NETWORKS = {"lo": (7, 7), "eth0": (100, 200), "cni0": (50, 60), "veth1": (50, 60)}


def test_each_byte_is_counted_once_at_the_device_that_moved_it(tmp_path: Path) -> None:
    root = plant_devices(
        tmp_path, disks=DISKS, networks=NETWORKS, hardware=("block/vda", "block/sdb", "net/eth0")
    )
    assert read_io_counters(root=root) == IoCounters(
        disk_read_bytes=11 * 512,
        disk_written_bytes=22 * 512,
        network_received_bytes=100,
        network_sent_bytes=200,
        interfaces={"eth0": InterfaceCounters(100, 200, 1, 1, 0, 0)},
    )


def test_a_container_on_the_machine_sees_the_machines_network(tmp_path: Path) -> None:
    root = plant_devices(tmp_path, disks=DISKS, networks=NETWORKS, hardware=("block/vda",))
    for device in ("class/net/eth0/device", "block/vda/device"):
        (tmp_path / "proc" / "1" / "root" / "sys" / device).mkdir(parents=True)
    found = read_io_counters(root=root)
    assert (found.disk_read_bytes, found.network_received_bytes) == (10 * 512, 100)


def test_without_a_device_behind_it_nothing_is_known(tmp_path: Path) -> None:
    root = plant_devices(tmp_path, disks=DISKS, networks=NETWORKS, hardware=())
    assert read_io_counters(root=root) == IoCounters()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"one\n" * 9, b"1 2 3 4: 5\n" * 9])
def test_files_of_another_shape_are_not_understood_and_nothing_more(
    tmp_path: Path, content: bytes
) -> None:
    root = plant_devices(tmp_path, disks=DISKS, networks=NETWORKS, hardware=("block/vda",))
    for file in (tmp_path / "proc/diskstats", tmp_path / "proc/1/net/dev"):
        file.write_bytes(content)
    assert read_io_counters(root=root) == IoCounters()


def on_this_machine(pattern: str, read: Callable[[Path], int]) -> int | None:
    """By the kernel's other files: sysfs has a directory for each device."""
    found = [one for one in Path("/sys").glob(pattern) if (one / "device").exists()]
    return sum(map(read, found)) if found else None


@pytest.mark.parametrize(
    ("what", "pattern", "read"),
    [
        (
            "disk_read_bytes",
            "block/*",
            lambda device: int((device / "stat").read_text().split()[2]) * 512,
        ),
        (
            "disk_written_bytes",
            "block/*",
            lambda device: int((device / "stat").read_text().split()[6]) * 512,
        ),
        (
            "network_received_bytes",
            "class/net/*",
            lambda device: int((device / "statistics/rx_bytes").read_text()),
        ),
        (
            "network_sent_bytes",
            "class/net/*",
            lambda device: int((device / "statistics/tx_bytes").read_text()),
        ),
    ],
)
def test_this_machine_has_moved_what_sysfs_says(
    what: str, pattern: str, read: Callable[[Path], int]
) -> None:
    before = on_this_machine(pattern, read)
    counted = getattr(read_io_counters(), what)
    after = on_this_machine(pattern, read)
    if before is None or after is None:
        assert counted is None
    else:
        assert before <= counted <= after


def test_this_machines_file_systems_are_those_of_psutil() -> None:
    ours = {one.path: one for one in read_devices().file_systems}
    theirs = {one.mountpoint: one for one in psutil.disk_partitions(all=False)}
    for path, one in ours.items():
        if path in theirs:
            assert (one.device, one.kind) == (theirs[path].device, theirs[path].fstype)
            assert one.total_bytes == psutil.disk_usage(path).total
        assert 0 <= one.used_bytes <= one.total_bytes
    devices = [one.device for one in ours.values()]
    assert len(set(devices)) == len(devices)


def test_interfaces_in_a_tree_have_a_speed_where_the_driver_knows_one(tmp_path: Path) -> None:
    root = plant_devices(
        tmp_path, disks=DISKS, networks=NETWORKS, hardware=("net/eth0", "net/cni0")
    )
    net = tmp_path / "sys" / "class" / "net"
    for name, content in (
        ("eth0/operstate", "up\n"),
        ("eth0/speed", "25000\n"),
        ("cni0/operstate", "unknown\n"),
        ("cni0/speed", "-1\n"),
    ):
        (net / name).write_text(content)
    links = read_devices(root=root).links
    assert links == {"eth0": InterfaceLink(True, 25_000), "cni0": InterfaceLink(None, None)}
