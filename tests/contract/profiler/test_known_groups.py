"""Groups as the profiler asks for them, on trees that machines of each kind have."""

from pathlib import Path

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.profiler.targets import GroupDirectory, ProcessPlace

UID = "0a1b2c3d-1111-2222-3333-444455556666"
CGROUPFS = f"/kubepods/burstable/pod{UID}"
SYSTEMD = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice"

MOUNTINFO = b"""\
30 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
31 20 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct
32 20 0:28 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
"""


def machine(root: Path, memberships: dict[int, str], *directories: str) -> KnownGroups:
    proc = root / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_bytes(MOUNTINFO)
    for pid, content in memberships.items():
        (proc / str(pid)).mkdir()
        (proc / str(pid) / "cgroup").write_text(content)
    for directory in directories:
        (root / "sys/fs/cgroup" / directory).mkdir(parents=True)
    return KnownGroups(root=str(root))


def test_a_group_is_where_its_directory_is(tmp_path: Path) -> None:
    groups = machine(tmp_path, {}, "unified/a/b", "cpuacct/a/b", "cpuacct/c", "freezer/a/b")
    mounted = f"{tmp_path}/sys/fs/cgroup"
    cpuacct = frozenset({"cpuacct"})
    assert groups.directories("/a/b") == (
        GroupDirectory(f"{mounted}/unified/a/b", frozenset()),
        GroupDirectory(f"{mounted}/cpuacct/a/b", cpuacct),
    )
    assert groups.directories("/c") == (GroupDirectory(f"{mounted}/cpuacct/c", cpuacct),)
    assert groups.directories("/d") == ()
    assert groups.directories("/a/../../cpuacct/c") == ()


def test_a_pod_is_found_by_both_drivers_names(tmp_path: Path) -> None:
    for number, path in enumerate((CGROUPFS, SYSTEMD)):
        container = f"0::{path}/0123\n"
        root = tmp_path / str(number)
        groups = machine(root, {7: container, 8: container, 9: "0::/other\n", 10: "x\n"})
        assert groups.of_pod(UID) == {path}
        assert groups.of_pod("none") == set()


def test_a_group_deeper_down_that_claims_the_uid_is_told_too(tmp_path: Path) -> None:
    forged = f"/kubepods/podffffffff-1111-2222-3333-444455556666/pod{UID}"
    groups = machine(tmp_path, {7: f"0::{CGROUPFS}/x\n", 8: f"0::{forged}\n"})
    assert groups.of_pod(UID) == {CGROUPFS, forged}


def test_this_machine_is_read() -> None:
    groups = KnownGroups()
    assert groups.of_pod(UID) == set()
    assert groups.directories("/no/such/group") == ()


def test_a_process_is_in_its_pod_and_container(tmp_path: Path) -> None:
    container = "0123456789ab" + "c" * 52
    inside = {
        7: f"0::{CGROUPFS}/{container}\n",
        8: f"0::{SYSTEMD}/cri-containerd-{container}.scope\n",
    }
    groups = machine(tmp_path, inside | {9: "0::/system.slice/x.service\n", 10: "x\n"})
    for pid in inside:
        assert groups.place_of(pid) == ProcessPlace(UID, "0123456789ab")
        assert groups.place_of(pid).labels(pid) == (
            ("pid", str(pid)),
            ("pod", UID),
            ("container", "0123456789ab"),
        )
    for pid in (9, 10, 11):
        assert groups.place_of(pid).labels(pid) == (("pid", str(pid)),)
