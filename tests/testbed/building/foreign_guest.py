"""The disk of a machine whose processor does not run here: none of its programs is started.

Its packages are unpacked, which is the first half of their installation. What the second half writes
is nearly all of it settings, which are the same for each processor: those of this machine's own guest
(`guest.py`) are copied.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import base_image, commands, disks, guest, made, unpacked
from tests.testbed.building.apt import updated
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe

SETTINGS = "etc"

COMPILER = ("gcc", "libc6-dev")
"""What tests compile there: no compiler of another machine's has to be fetched for it."""


def build(architecture: str, recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make `disk.img`. To be called while the cache is locked."""
    if os.geteuid() != 0:
        raise MissingPartError("needs root, because debootstrap makes device files")
    own = made.guest()
    cache.check_disk(recipe)
    say(f"{recipe.part}: unpacking a machine for {architecture}; takes some 80 s")
    with cache.making(recipe) as folder, cache.scratch("foreign-guest") as scratch:
        (scratch / "apt").mkdir()
        with updated(scratch / "apt") as lists:
            mirror = lists.mirror(made.this_machine().codename)
        try:
            root = base_image.bootstrap(
                made.debian("images"),
                mirror,
                scratch,
                foreign=architecture,
                include=(*guest.PACKAGES, *COMPILER),
            )
            _unpack(root, scratch)
            _copy_settings(own / "disk.img", root, scratch)
            guest.configure(root)
            disks.make(root, folder / "disk.img", "4G", log=scratch / "guest.log")
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed
        shutil.copy(own / "python", folder)


def _unpack(root: Path, scratch: Path) -> None:
    """All packages, of which debootstrap has unpacked the first few."""
    for archive in sorted((root / base_image.ARCHIVES).glob("*.deb")):
        files = scratch / "files.tar"
        _run(["dpkg-deb", "--fsys-tarfile", archive], scratch, output=files)
        # The system's /bin and /lib are links to those in /usr.
        _run(["tar", "--extract", "--keep-directory-symlink", "-f", files, "-C", root], scratch)
        for used in (files, archive):
            used.unlink()
    shutil.rmtree(root / "debootstrap")
    # A link into the machine that makes it.
    (root / "proc").unlink()
    (root / "proc").mkdir()


def _copy_settings(disk: Path, root: Path, scratch: Path) -> None:
    """Over those that the packages have brought; but not where libraries lie, which differs."""
    _run(["debugfs", "-R", f"rdump /{SETTINGS} {scratch}", disk], scratch)
    copied = scratch / SETTINGS
    (copied / "ld.so.cache").unlink()
    shutil.rmtree(copied / "ld.so.conf.d")
    _run(["cp", "--archive", f"{copied}/.", root / SETTINGS], scratch)


def _run(command: list[str | Path], scratch: Path, *, output: Path | None = None) -> None:
    commands.run(
        command,
        log=scratch / "guest.log",
        environment={"PATH": unpacked.SYSTEM, "LC_ALL": "C"},
        output=output,
    )
