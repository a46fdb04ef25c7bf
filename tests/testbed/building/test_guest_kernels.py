import lzma
from pathlib import Path

from tests.testbed.building.guest_kernels import drivers


def test_drivers_are_found_and_given_as_busybox_loads_them(tmp_path: Path) -> None:
    modules = tmp_path / "6.12.1/kernel/drivers"
    modules.mkdir(parents=True)
    (modules / "virtio_blk.ko").write_bytes(b"plain")
    (modules / "virtio_net.ko.xz").write_bytes(lzma.compress(b"packed"))
    (modules / "floppy.ko").write_bytes(b"of no use")
    assert drivers(tmp_path) == {"virtio_blk": b"plain", "virtio_net": b"packed"}
