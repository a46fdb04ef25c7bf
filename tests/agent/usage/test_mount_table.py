from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.mount_table import MOST, MountedDisk, mounted_disks

TABLE = rb"""24 1 252:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
25 24 0:22 / /proc rw - proc proc rw
26 24 252:1 /var/lib/kubelet/pods /var/lib/kubelet/pods rw - ext4 /dev/vda1 rw
27 24 252:16 / /mnt/a\040b rw - xfs /dev/vdb rw
28 24 0:40 / /mnt/nfs rw - nfs4 server:/export rw
29 24 0:41 / /mnt/ntfs rw - fuseblk /dev/vdc rw
30 24 7:1 / /snap/x/1 ro - squashfs /dev/loop1 ro
31 24 0:42 / /run rw - tmpfs tmpfs rw
nonsense
"""


def test_each_disk_once_where_it_is_mounted_nearest_to_the_root() -> None:
    assert mounted_disks(TABLE) == (
        MountedDisk("/", "/dev/vda1", "ext4"),
        MountedDisk("/mnt/a b", "/dev/vdb", "xfs"),
    )


def test_a_node_with_thousands_of_volumes_is_bounded() -> None:
    lines = [b"1 1 8:%d / /m%d rw - ext4 /dev/sd%d rw" % (n, n, n) for n in range(1000)]
    assert len(mounted_disks(b"\n".join(lines))) == MOST


@given(st.binary(max_size=300))
def test_any_bytes_are_a_table(content: bytes) -> None:
    mounted_disks(content)
