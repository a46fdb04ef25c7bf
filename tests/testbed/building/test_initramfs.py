from tests.testbed.building.initramfs import DRIVERS, cpio, initramfs


def test_drivers_are_loaded_in_the_order_in_which_they_need_each_other() -> None:
    archive = initramfs(b"busybox", dict.fromkeys(reversed(DRIVERS), b"elf"))
    assert f"for module in {' '.join(DRIVERS)}; do".encode() in archive


def test_a_driver_that_the_kernel_has_built_in_is_not_loaded() -> None:
    archive = initramfs(b"busybox", {"virtio_blk": b"elf"})
    assert b"for module in virtio_blk; do" in archive


def test_the_modules_are_where_the_kernel_looks_for_them() -> None:
    archive = initramfs(b"busybox", {})
    assert b"mount -t ext4 -o ro /dev/vdd /disk/usr/lib/modules\n" in archive


def test_every_name_and_content_begins_where_four_bytes_do() -> None:
    archive = cpio([("a", 0o100644, b"12345"), ("bcd", 0o100600, b"")])
    starts = [at for at in range(0, len(archive), 4) if archive.startswith(b"070701", at)]
    assert len(starts) == archive.count(b"070701") == 3
    assert len(archive) % 4 == 0
