"""What groups do beside CPU and memory, in trees of machines of each kind."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_common.wire_activity import Activity

from tests.contract.usage.trees import HYBRID_MOUNTS, ID, UID, V1_MOUNTS, V2_MOUNTS, plant

POD = f"/kubepods/burstable/pod{UID}"
CONTAINER = f"{POD}/{ID}"
MORE_MOUNTS = (
    "42 31 0:40 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "43 31 0:41 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
)
UNIFIED_LINE = f"0::{CONTAINER}\n"
LEGACY_LINES = (
    f"5:blkio:{CONTAINER}\n4:memory:{CONTAINER}\n3:cpu,cpuacct:{CONTAINER}\n2:pids:{CONTAINER}\n"
)

Tree = dict[str, dict[str, str]]


def unified(place: str, *, second: bool) -> Tree:
    periods, kills, read = (200, 3, 30_000) if second else (100, 1, 0)
    return {
        f"{place}{CONTAINER}": {
            "cpu.stat": f"usage_usec 1\nnr_periods {periods}\nnr_throttled {periods // 4}\n"
            f"throttled_usec {periods * 30_000}\n",
            "memory.events": f"low 0\nmax 9\noom 9\noom_kill {kills}\noom_group_kill 0\n",
            "pids.current": "12\n",
            "io.stat": f"253:0 rbytes=999999 wbytes=9\n252:0 rbytes={read} wbytes=0 rios=1\n",
        }
    }


def legacy(*, second: bool) -> Tree:
    periods, kills, read = (200, 3, 30_000) if second else (100, 1, 0)
    return {
        f"/cpu,cpuacct{CONTAINER}": {
            "cpuacct.usage": "1000\n",
            "cpu.stat": f"nr_periods {periods}\nnr_throttled {periods // 4}\n"
            f"throttled_time {periods * 30_000_000}\n",
        },
        f"/memory{CONTAINER}": {
            "memory.oom_control": f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n"
        },
        f"/pids{CONTAINER}": {"pids.current": "12\n"},
        f"/blkio{CONTAINER}": {
            "blkio.throttle.io_service_bytes_recursive": f"253:0 Read 999999\n252:0 Read {read}\n"
            "252:0 Write 0\n252:0 Total 5\nTotal 5\n"
        },
    }


def hybrid(*, second: bool) -> Tree:
    """Version 2 has files of the same names, but no controllers."""
    bare = {f"/unified{CONTAINER}": {"cpu.stat": "usage_usec 1\n"}}
    return legacy(second=second) | bare


KINDS: dict[str, tuple[str, str, Callable[[bool], Tree]]] = {
    "version 2": (V2_MOUNTS, UNIFIED_LINE, lambda second: unified("", second=second)),
    "version 1": (V1_MOUNTS + MORE_MOUNTS, LEGACY_LINES, lambda second: legacy(second=second)),
    "hybrid": (
        HYBRID_MOUNTS + MORE_MOUNTS,
        LEGACY_LINES + UNIFIED_LINE,
        lambda second: hybrid(second=second),
    ),
}


def write(root: Path, tree: Tree) -> None:
    for directory, files in tree.items():
        for name, content in files.items():
            path = root / f"sys/fs/cgroup{directory}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


@pytest.mark.parametrize("kind", KINDS)
def test_each_counter_is_found_where_this_kind_of_machine_has_it(kind: str, tmp_path: Path) -> None:
    mounts, line, tree = KINDS[kind]
    root = plant(tmp_path, mounts=mounts, processes={7: ("app", line)}, groups=tree(False))
    (tmp_path / "sys/block/vda/dev").write_text("252:0\n")
    # A volume on that disk, whose bytes are those of the disk.
    (tmp_path / "sys/block/dm-0").mkdir()
    (tmp_path / "sys/block/dm-0/dev").write_text("253:0\n")
    reader = ProcfsReader(CachedFiles(most=99), most_processes=9, most_groups=9, root=root)
    first = reader.snapshot(at=0.0, monotonic=0.0).activities[CONTAINER]
    assert (first.throttled, first.oom_kills, first.pids) == (None, 1, 12)
    write(tmp_path, tree(True))
    found = reader.snapshot(at=30.0, monotonic=30.0).activities[CONTAINER]
    assert found == Activity(
        throttled=0.25,
        throttled_s=0.1,
        oom_kills=3,
        pids=12,
        disk_read=1000.0,
        disk_written=0.0,
    )


@pytest.mark.parametrize("content", [b"", b"\xff" * 99, b"x" * 200_000, b"nr_periods -5\n"])
def test_hostile_files_are_not_known_and_no_more(content: bytes, tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        mounts=V2_MOUNTS,
        processes={7: ("app", UNIFIED_LINE)},
        groups=unified("", second=False),
    )
    for path in (tmp_path / f"sys/fs/cgroup{CONTAINER}").iterdir():
        path.write_bytes(content)
    task = tmp_path / "proc/7/task/7"
    task.mkdir(parents=True)
    for path in (task / "schedstat", tmp_path / "proc/1/net/dev"):
        path.write_bytes(content)
    reader = ProcfsReader(CachedFiles(most=99), most_processes=9, most_groups=9, root=root)
    reader.snapshot(at=0.0, monotonic=0.0)
    activity = reader.snapshot(at=60.0, monotonic=60.0).activities.get(CONTAINER, Activity())
    assert (activity.throttled, activity.oom_kills, activity.pids) == (None, None, None)
    assert (activity.run_delay, activity.traffic) == (None, None)


def test_files_and_threads_of_a_groups_processes_are_counted(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        mounts=V2_MOUNTS,
        processes={7: ("app", UNIFIED_LINE)},
        groups=unified("", second=False),
    )
    for number in range(3):
        (tmp_path / "proc/7/fd").mkdir(exist_ok=True)
        (tmp_path / f"proc/7/fd/{number}").write_text("")
        task = tmp_path / f"proc/7/task/{7 + number}"
        task.mkdir(parents=True)
        (task / "schedstat").write_text("5 0 1\n")
    reader = ProcfsReader(CachedFiles(most=99), most_processes=9, most_groups=9, root=root)
    reader.snapshot(at=0.0, monotonic=0.0)
    for number in range(3):
        (tmp_path / f"proc/7/task/{7 + number}/schedstat").write_text("5 2000000000 2\n")
    found = reader.snapshot(at=60.0, monotonic=60.0).activities[CONTAINER]
    assert (found.open_files, found.run_delay) == (3, 0.1)
