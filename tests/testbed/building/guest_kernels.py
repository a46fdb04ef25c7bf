"""Kernels for guests: each with its modules on a disk, and the first system that finds the disks."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import apt, archives, commands, debian_packages, disks, made, unpacked
from tests.testbed.building.apt import Archive
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.initramfs import DRIVERS, initramfs
from tests.testbed.building.recipes import GuestKernel, Recipe

BUSYBOX = "busybox-static"


def build(kernel: GuestKernel, recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make `vmlinuz`, `initramfs` and `modules.img`. To be called while the cache is locked."""
    tools = made.debian("machine")
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching Linux {kernel.version} for {kernel.architecture}")
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        log = scratch / "kernel.log"
        try:
            root = _unpacked(kernel, scratch, log)
            (modules,) = (root / "lib/modules").iterdir()
            depmod = scratch / "depmod"
            depmod.symlink_to(unpacked.program(tools, "kmod"))
            commands.run(
                [depmod, "--basedir", root, modules.name],
                log=log,
                environment=unpacked.environment(tools),
            )
            if kernel.headers:
                place_headers(modules, root / "usr/src")
            disks.make(modules.parent, folder / "modules.img", "512M", log=log)
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed
        (root / f"boot/vmlinuz-{modules.name}").rename(folder / "vmlinuz")
        first = initramfs((root / "bin/busybox").read_bytes(), drivers(modules))
        (folder / "initramfs").write_bytes(gzip.compress(first, 1))


def drivers(modules: Path) -> dict[str, bytes]:
    """Those of DRIVERS that are below *modules*, as busybox loads them: not compressed."""
    found = dict[str, bytes]()
    for path in modules.rglob("*.ko*"):
        name = path.name.partition(".")[0]
        if name in DRIVERS:
            content = path.read_bytes()
            found[name] = lzma.decompress(content) if path.suffix == ".xz" else content
    return found


def _unpacked(kernel: GuestKernel, scratch: Path, log: Path) -> Path:
    """The root of the kernel's package, with a static busybox for the same processor."""
    fetched = _new(scratch / "archives")
    with apt.updated(_new(scratch / "apt"), _archive(kernel, scratch)) as lists:
        image = lists.first_dependency(kernel.package)
        lists.download([image, lists.newest(BUSYBOX)], fetched)
        if kernel.headers:
            lists.download([lists.newest(name) for name in headers_of(image.name)], fetched)
    root = scratch / "root"
    debian_packages.unpack_archives(fetched, root, log=log)
    return root


def headers_of(image: str) -> tuple[str, str]:
    """The packages with the headers of exactly the kernel that the package *image* is: its own, and
    those that it shares with the other kernels of that version."""
    release = image.removeprefix("linux-image-")
    return f"linux-headers-{release}", f"linux-headers-{release.partition('-cloud-')[0]}-common"


def place_headers(modules: Path, sources: Path) -> None:
    """Where their package has links to /usr/src, which is no disk of the kernel's."""
    for link in ("build", "source"):
        folder = sources / (modules / link).readlink().name
        (modules / link).unlink()
        folder.rename(modules / link)


def _archive(kernel: GuestKernel, scratch: Path) -> Archive | None:
    """Where *kernel* is when the machine's own lists do not have it."""
    machine = made.this_machine()
    if not kernel.suite and kernel.architecture == machine.architecture:
        return None
    return archives.archive(scratch, architecture=kernel.architecture, suite=kernel.suite)


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder
