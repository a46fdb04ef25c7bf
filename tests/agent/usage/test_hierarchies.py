import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.cgroup_files import Membership, parse_memberships
from nemutator_agent.usage.hierarchies import (
    Hierarchy,
    absolute,
    parse_mountinfo,
    place,
    with_ancestors,
)
from nemutator_agent.usage.malformed import MalformedError

V2 = b"35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
HYBRID = (
    b"25 30 0:23 / /proc rw - proc proc rw\n"
    b"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
    b"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    b"36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices\n"
    b"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
    b"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)
parts = st.from_regex(r"[a-z0-9:. -]{1,8}", fullmatch=True).filter(lambda part: ".." not in part)
paths = st.lists(parts, max_size=5).map(lambda names: "/" + "/".join(names))


def test_version_2_is_one_hierarchy() -> None:
    assert parse_mountinfo(V2) == (Hierarchy(2, frozenset(), "/sys/fs/cgroup", "/"),)


def test_a_hybrid_machine_has_both_and_version_2_comes_first() -> None:
    found = parse_mountinfo(HYBRID)
    assert [one.version for one in found] == [2, 1, 1, 1]
    assert {name for one in found for name in one.controllers} == {
        "cpu",
        "cpuacct",
        "memory",
        "name=systemd",
    }


def test_the_mount_that_shows_everything_wins_over_a_bind_mount() -> None:
    part = V2.replace(b"0:30 / /sys", b"0:30 /docker/x /sys").replace(b"cgroup rw,", b"bind rw,")
    assert parse_mountinfo(part + V2) == parse_mountinfo(V2 + part) == parse_mountinfo(V2)


def test_a_mount_with_blanks_is_read_back() -> None:
    (found,) = parse_mountinfo(V2.replace(b"/sys/fs/cgroup", rb"/a\040b\134c"))
    assert found.mount == "/a b\\c"


def test_a_process_is_called_by_its_deepest_group() -> None:
    memberships = parse_memberships(b"9:name=systemd:/\n4:memory:/docker/x\n2:cpuacct:/\n0::/\n")
    placement = place(memberships, parse_mountinfo(HYBRID))
    assert placement.path == "/docker/x"
    assert sorted(path for _, path in placement.groups) == ["/", "/", "/", "/docker/x"]


def test_without_hierarchies_everything_is_the_root() -> None:
    assert place([Membership(frozenset(), b"/x")], []).path == "/"


@pytest.mark.parametrize(
    ("root", "path", "directory"),
    [
        ("/", "/", "/m"),
        ("/", "/a/b", "/m/a/b"),
        ("/docker/x", "/docker/x", "/m"),
        ("/docker/x", "/docker/x/y", "/m/y"),
        ("/docker/x", "/docker/xy", None),
        ("/docker/x", "/", None),
        ("/", "/../other", None),
    ],
)
def test_a_group_is_found_below_what_is_mounted(
    root: str, path: str, directory: str | None
) -> None:
    assert Hierarchy(2, frozenset(), "/m", root).directory(path) == directory


OWN = (
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu.slice/cri-containerd-a.scope"
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/", OWN),
        ("/deeper", f"{OWN}/deeper"),
        ("/../cri-containerd-b.scope", OWN.replace("-a.", "-b.")),
        ("/../../../kubepods-podx.slice/y", "/kubepods.slice/kubepods-podx.slice/y"),
        ("/../../../../system.slice/ssh.service", "/system.slice/ssh.service"),
        ("/../../../..", "/"),
        # More than there is above: our place is not what we took it for.
        ("/../../../../../x", "/../../../../../x"),
    ],
)
def test_a_cgroup_namespace_is_seen_through(written: str, meant: str) -> None:
    assert absolute(written, OWN) == meant
    assert absolute(meant, "/") == meant


def test_a_mount_says_how_deep_our_namespace_is_and_the_place_makes_it_whole() -> None:
    (found,) = parse_mountinfo(V2.replace(b"0:30 /", b"0:30 /../../../.."))
    assert (found.steps_down, found.directory("/../../../../system.slice")) == (4, None)
    whole = found.seen_from(OWN)
    assert (whole.root, whole.steps_down) == ("/", None)
    memberships = parse_memberships(b"0::/../../../../system.slice/ssh.service\n")
    assert place(memberships, [whole]).path == "/system.slice/ssh.service"
    assert whole.directory("/system.slice") == "/sys/fs/cgroup/system.slice"


def test_the_machines_mount_wins_over_the_containers_own() -> None:
    """A runtime mounts a container's own group first, and the volume with all of them over it."""
    whole = V2.replace(b"0:30 /", b"0:30 /../../../..")
    for mounts in (V2 + whole, whole + V2):
        assert [one.root for one in parse_mountinfo(mounts)] == ["/../../../.."]


@given(paths)
def test_a_path_leads_over_all_above_it(path: str) -> None:
    above = with_ancestors(path)
    assert above[0] == "/"
    assert above[-1] == path
    assert all(long.startswith(short) for short, long in itertools.pairwise(above))


@given(st.binary(max_size=200), st.integers(0, len(HYBRID)))
def test_anything_else_is_malformed(noise: bytes, cut: int) -> None:
    with contextlib.suppress(MalformedError):
        parse_mountinfo(HYBRID[:cut] + noise)
