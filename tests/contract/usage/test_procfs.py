"""The reader on machines of every kind, as trees of files, and on this one."""

import os
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_agent.usage.reports import report_of
from nemutator_common.wire import Report

from tests.contract.usage.trees import (
    HYBRID_MOUNTS,
    ID,
    PSI,
    UID,
    V1_MOUNTS,
    V2_MOUNTS,
    plant,
    stat,
    v2_group,
)

SSH = "/system.slice/ssh.service"
POD = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice"
CONTAINER = f"{POD}/cri-containerd-{ID}.scope"


def eyes_on(
    root: str, *, descriptors: int = 100, processes: int = 99, groups: int = 99
) -> ProcfsReader:
    files = CachedFiles(most=descriptors)
    return ProcfsReader(files, most_processes=processes, most_groups=groups, root=root)


def reported(reader: ProcfsReader) -> Report:
    snapshot = reader.snapshot(at=1.0, monotonic=1.0)
    return report_of(None, snapshot, facts=reader.facts(), runtimes={})


def test_a_node_of_version_2(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        mounts=V2_MOUNTS,
        processes={7: ("sshd", f"0::{SSH}\n"), 8: ("app) R", f"0::{CONTAINER}\n")},
        groups={path: v2_group() for path in ("/system.slice", SSH, POD, CONTAINER)}
        | {"/kubepods.slice": v2_group(memory=1)},
    )
    report = reported(eyes_on(root))
    assert report.missing == ()
    assert (report.machine.system, report.machine.kernel) == (
        "Ubuntu 24.04 LTS",
        "6.8.0-31-generic",
    )
    found = {workload.path: workload for workload in report.workloads}
    assert list(found) == ["/", "/kubepods.slice", POD, CONTAINER, "/system.slice", SSH]
    assert found[SSH].memory_bytes == 5000
    assert found["/kubepods.slice"].memory_bytes == 0
    assert found[SSH].pressures.io is not None
    assert (found[CONTAINER].kind, found[CONTAINER].pod_uid) == ("container", UID)
    assert [(one.pid, one.command, one.workload) for one in report.processes] == [
        (7, "sshd", SSH),
        (8, "app) R", CONTAINER),
    ]


def test_a_group_that_a_service_made_for_itself_is_counted_in_the_service(tmp_path: Path) -> None:
    """As systemd-udevd does. A service that its slice does not count is missing indeed."""
    own, cron = f"{SSH}/workers/one", "/system.slice/cron.service"
    uncounted = {"cpu.stat": "usage_usec 1\n", "cpu.pressure": PSI}
    processes = {7: ("sshd", f"0::{own}\n")}
    groups = {path: v2_group() for path in ("/system.slice", SSH)}
    groups |= {f"{SSH}/workers": uncounted, own: uncounted}
    root = plant(tmp_path / "one", mounts=V2_MOUNTS, processes=processes, groups=groups)
    assert reported(eyes_on(root)).missing == ()
    processes[8] = ("cron", f"0::{cron}\n")
    groups[cron] = uncounted
    root = plant(tmp_path / "two", mounts=V2_MOUNTS, processes=processes, groups=groups)
    (missing,) = reported(eyes_on(root)).missing
    assert missing.what == "memory of 1 of 5 control groups"


def test_docker_on_version_1(tmp_path: Path) -> None:
    group = f"/docker/{ID}"
    cgroup = f"4:memory:{group}\n3:cpu,cpuacct:{group}\n1:name=systemd:{group}\n"
    root = plant(
        tmp_path,
        mounts=V1_MOUNTS,
        processes={7: ("app", cgroup)},
        groups={
            f"/cpu,cpuacct{group}": {"cpuacct.usage": "5000\n"},
            f"/memory{group}": {
                "memory.usage_in_bytes": "9000\n",
                "memory.stat": "inactive_file 1\ntotal_inactive_file 2000\n",
            },
        },
        pressure=False,
    )
    report = reported(eyes_on(root))
    container = next(one for one in report.workloads if one.path == group)
    assert (container.container_id, container.memory_bytes) == (ID, 7000)
    assert {missing.what.split(" of ")[0] for missing in report.missing} == {
        "pressure (PSI)",
        "CPU",
        "memory",
    }  # /docker itself has no files in this tree


def test_a_hybrid_machine_where_only_memory_is_limited(tmp_path: Path) -> None:
    cgroup = "9:name=systemd:/\n4:memory:/jobs/1\n2:cpuacct:/\n0::/\n"
    memory = {"memory.usage_in_bytes": "9000\n", "memory.stat": "total_inactive_file 0\n"}
    root = plant(
        tmp_path,
        mounts=HYBRID_MOUNTS,
        processes={7: ("app", cgroup)},
        groups={"/memory/jobs": memory, "/memory/jobs/1": memory},
    )
    report = reported(eyes_on(root))
    assert [(one.path, one.memory_bytes) for one in report.workloads[1:]] == [
        ("/jobs", 9000),
        ("/jobs/1", 9000),
    ]
    assert [one.cpu_cores for one in report.workloads[1:]] == [None, None]
    assert any(missing.what == "CPU of all control groups" for missing in report.missing)


def test_kernel_threads_and_zombies_are_nobodys_workload(tmp_path: Path) -> None:
    root = plant(
        tmp_path, mounts=V2_MOUNTS, processes=dict.fromkeys((2, 3, 4), ("x", "0::/\n")), groups={}
    )
    (tmp_path / "proc/2/stat").write_text(stat(2, "kthreadd", flags=0x208040))
    (tmp_path / "proc/3/stat").write_text(stat(3, "gone", state="Z"))
    reader = eyes_on(root)
    assert [one.pid for one in reported(reader).processes] == [4]
    # The number of a kernel thread is used again by a process: found within ten snapshots.
    (tmp_path / "proc/2/stat").write_text(stat(2, "app"))
    assert any(len(reported(reader).processes) == 2 for _ in range(10))


def test_a_process_that_moves_is_followed_while_young_and_now_and_then(tmp_path: Path) -> None:
    root = plant(tmp_path, mounts=V2_MOUNTS, processes={7: ("x", "0::/\n")}, groups={})
    reader = eyes_on(root)
    assert reported(reader).processes[0].workload == "/"
    (tmp_path / "proc/7/cgroup").write_text("0::/a\n")
    assert reported(reader).processes[0].workload == "/a"
    for _ in range(3):
        reported(reader)
    (tmp_path / "proc/7/cgroup").write_text("0::/b\n")
    assert any(reported(reader).processes[0].workload == "/b" for _ in range(10))


def test_what_is_over_a_cap_is_counted(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        mounts=V2_MOUNTS,
        processes={n: ("x", f"0::/g{n}\n") for n in range(10, 15)},
        groups={f"/g{n}": v2_group() for n in range(10, 15)},
    )
    gaps = eyes_on(root, processes=3).snapshot(at=1, monotonic=1).gaps
    assert gaps.processes_over_cap == 2
    gaps = eyes_on(root, groups=3).snapshot(at=1, monotonic=1).gaps
    assert gaps.groups_over_cap == 2
    reader = eyes_on(root, descriptors=12)
    for _ in range(2):
        assert reader.snapshot(at=1, monotonic=1).gaps.reads_over_cap > 0


def test_a_process_outside_of_our_cgroup_namespace_is_named(tmp_path: Path) -> None:
    root = plant(tmp_path, mounts=V2_MOUNTS, processes={7: ("x", "0::/../b\n")}, groups={})
    assert eyes_on(root).snapshot(at=1, monotonic=1).gaps.unplaced_processes == 1


def test_a_pod_with_a_cgroup_namespace_sees_all_of_a_node_of_version_2(tmp_path: Path) -> None:
    """As kubelet with systemd's driver and containerd make it for the DaemonSet's `observe`."""
    pods = "/kubepods.slice/kubepods-burstable.slice"
    ours = f"{pods}/kubepods-burstable-pod{UID.replace('0f8b2f3a', 'aaaaaaaa').replace('-', '_')}.slice"
    own = f"{ours}/cri-containerd-{ID[::-1]}.scope"
    root = plant(
        tmp_path,
        mounts="1040 1029 0:30 /../../../.. /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
        processes={
            7: ("sshd", "0::/../../../../system.slice/ssh.service\n"),
            8: ("app", f"0::/../../..{CONTAINER.removeprefix('/kubepods.slice')}\n"),
            9: ("mount", f"0::/../cri-containerd-{ID}.scope\n"),
            10: ("observe", "0::/\n"),
        },
        groups={
            path: v2_group()
            for path in (
                "/system.slice",
                SSH,
                POD,
                CONTAINER,
                ours,
                f"{ours}/cri-containerd-{ID}.scope",
            )
        }
        | {"/kubepods.slice": v2_group(), pods: v2_group()}
        | {own: v2_group() | {"cgroup.procs": f"1\n{os.getpid()}\n"}}
        | {f"{pods}/kubepods-burstable-podx.slice/y": {"cgroup.procs": "10\n"}},
    )
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    report = reported(eyes_on(root))
    assert report.missing == ()
    placed = {one.command: one.workload for one in report.processes}
    mount = f"{ours}/cri-containerd-{ID}.scope"
    assert placed == {"sshd": SSH, "app": CONTAINER, "mount": mount, "observe": own}
    found = {workload.path: workload for workload in report.workloads}
    assert (found[CONTAINER].pod_uid, found[CONTAINER].memory_bytes) == (UID, 5000)
    assert found[own].memory_bytes == 5000
    groups = KnownGroups(root=root)
    assert groups.of_pod(UID) == {POD}
    (directory,) = groups.directories(POD)
    assert directory.directory == f"{root}/sys/fs/cgroup{POD}"


def test_a_cgroup_namespace_whose_place_cannot_be_found_is_named(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        mounts=V2_MOUNTS.replace("0:30 /", "0:30 /../.."),
        processes={7: ("x", "0::/../../b\n")},
        groups={"/a/b": {"cgroup.procs": "1\n"}},
    )
    for written in ("0::/\n", "nonsense"):
        (tmp_path / "proc/self/cgroup").write_text(written)
        assert eyes_on(root).snapshot(at=1, monotonic=1).gaps.unplaced_processes == 1


def test_a_machine_without_its_files_says_which(tmp_path: Path) -> None:
    root = plant(tmp_path, mounts="", processes={}, groups={})
    (tmp_path / "proc/meminfo").unlink()
    with pytest.raises(MalformedError, match="/proc/meminfo"):
        eyes_on(root).snapshot(at=1, monotonic=1)


def test_descriptors_are_kept_and_given_back(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1")
    files = CachedFiles(most=1)
    open_files = len(os.listdir("/proc/self/fd"))
    assert [files.read(str(path)), files.read(str(tmp_path / "b"))] == [b"1", None]
    assert files.refused == 1
    path.write_text("2")
    assert files.read(str(path)) == b"2"
    files.sweep()
    assert len(files) == 1
    files.sweep()
    assert len(files) == 0
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_this_machine_and_this_process() -> None:
    reader = eyes_on("", descriptors=4000, processes=4000, groups=1000)
    snapshot = reader.snapshot(at=1.0, monotonic=1.0)
    own = ProcessId(os.getpid(), reader.started_ticks(os.getpid()) or 0)
    assert snapshot.processes[own].memory_bytes > 1 << 20
    assert snapshot.memory.total_bytes > snapshot.memory.available_bytes > 0


APART_BYTES = 64 << 20
"""What a busy machine takes and gives back between two files, and what its CPUs hold ready."""


def test_no_group_of_this_machine_has_more_memory_than_the_machine() -> None:
    reader = eyes_on("", descriptors=4000, processes=4000, groups=1000)
    snapshot = reader.snapshot(at=1.0, monotonic=1.0)
    for path, group in snapshot.groups.items():
        assert (group.memory_bytes or 0) <= snapshot.memory.used_bytes + APART_BYTES, path
