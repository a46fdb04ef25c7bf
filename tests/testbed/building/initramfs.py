"""The small system that a guest's kernel starts first: it finds the disks, and hands over to one.

Debian's cloud kernel has ext4 in it and the drivers of virtual disks beside it, as modules.
"""

import stat
from collections.abc import Iterable, Mapping, Sequence

# A module after those that it needs.
DRIVERS = (
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_blk",
    "failover",
    "net_failover",
    "virtio_net",
)

# The last of the disks: when it is there, the others are.
MODULES_DISK = "/dev/vdd"

INIT = """\
#!/bin/busybox sh
mount() { /bin/busybox mount "$@"; }
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in {drivers}; do
    /bin/busybox insmod "/drivers/$module.ko"
done
tries=0
until [ -b {modules} ] || [ "$tries" = 600 ]; do
    /bin/busybox sleep 0.1
    tries=$((tries + 1))
done
mount -t ext4 /dev/vda /disk
mount -t ext4 -o ro {modules} /disk/usr/lib/modules
/bin/busybox umount /proc /sys
mount --move /dev /disk/dev
exec /bin/busybox switch_root /disk /sbin/init
"""

FOLDERS = ("bin", "dev", "disk", "drivers", "proc", "sys")


def initramfs(busybox: bytes, drivers: Mapping[str, bytes]) -> bytes:
    """The archive, not compressed. *drivers* are those of DRIVERS that the kernel has."""
    present = [name for name in DRIVERS if name in drivers]
    script = INIT.replace("{drivers}", " ".join(present)).replace("{modules}", MODULES_DISK)
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in FOLDERS]
    entries += [
        ("bin/busybox", stat.S_IFREG | 0o755, busybox),
        ("init", stat.S_IFREG | 0o755, script.encode()),
    ]
    entries += [(f"drivers/{name}.ko", stat.S_IFREG | 0o644, drivers[name]) for name in present]
    return cpio(entries)


def cpio(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """An archive of the form that kernels read (`newc`), of names, modes and contents."""
    archive = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        path = name.encode() + b"\0"
        # inode, mode, uid, gid, links, mtime, size, two pairs of device numbers, name, checksum
        fields: Sequence[int] = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
        archive += b"070701" + b"".join(b"%08X" % field for field in fields) + path
        archive += bytes(-len(archive) % 4)
        archive += content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)
