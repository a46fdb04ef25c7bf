import lzma
from pathlib import Path

import pytest

from tests.testbed.building.guest_kernels import drivers, headers_of, place_headers


def test_drivers_are_found_and_given_as_busybox_loads_them(tmp_path: Path) -> None:
    modules = tmp_path / "6.12.1/kernel/drivers"
    modules.mkdir(parents=True)
    (modules / "virtio_blk.ko").write_bytes(b"plain")
    (modules / "virtio_net.ko.xz").write_bytes(lzma.compress(b"packed"))
    (modules / "floppy.ko").write_bytes(b"of no use")
    assert drivers(tmp_path) == {"virtio_blk": b"plain", "virtio_net": b"packed"}


@pytest.mark.parametrize(
    ("image", "shared"),
    [
        ("linux-image-6.1.0-56-cloud-amd64", "linux-headers-6.1.0-56-common"),
        ("linux-image-6.12.117+deb12-cloud-amd64", "linux-headers-6.12.117+deb12-common"),
    ],
)
def test_headers_are_those_of_exactly_that_kernel(image: str, shared: str) -> None:
    assert headers_of(image) == (image.replace("image", "headers"), shared)


def test_headers_lie_where_the_links_to_them_were(tmp_path: Path) -> None:
    modules, sources = tmp_path / "lib/modules/6.1.0", tmp_path / "usr/src"
    modules.mkdir(parents=True)
    for link, name in {"build": "linux-headers-6.1.0", "source": "linux-headers-common"}.items():
        (sources / name / "include").mkdir(parents=True)
        (modules / link).symlink_to(f"/usr/src/{name}")
        (sources / name / "include" / link).touch()
    place_headers(modules, sources)
    assert (modules / "build/include/build").is_file()
    assert (modules / "source/include/source").is_file()
