"""Hierarchies of control groups are read from the mounts of machines of both versions."""

from pathlib import Path

from tests.testbed.parts.node.cgroups import hierarchies

BOTH = """\
23 27 0:22 / /sys rw,relatime - sysfs sysfs rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
SECOND = """\
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate
31 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:5 master:1 - cgroup2 cgroup2 rw
99 27 0:26 / /mnt/elsewhere rw - cgroup2 cgroup2 rw
"""


def test_a_machine_with_both_versions_has_all_of_them() -> None:
    found = {one.path.name: one for one in hierarchies(BOTH)}
    assert list(found) == ["cpu,cpuacct", "cpuset", "systemd", "unified"]
    assert found["cpu,cpuacct"].controllers == {"cpu", "cpuacct"}
    assert found["cpuset"].controllers == {"cpuset"}
    assert [one.unified for one in found.values()] == [False, False, False, True]


def test_a_machine_with_the_second_has_one_where_kubelet_looks() -> None:
    (one,) = hierarchies(SECOND)
    assert one.path == Path("/sys/fs/cgroup")
    assert one.unified
    assert not one.controllers
