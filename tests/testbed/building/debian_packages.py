"""Debian packages unpacked into the cache, never installed: no service starts, none is replaced."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.testbed.building import apt, commands, unpacked
from tests.testbed.building.apt_answers import Package
from tests.testbed.building.cache import Cache
from tests.testbed.building.recipes import Recipe

SET_ID = stat.S_ISUID | stat.S_ISGID


def unpack(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make `root` and the list of what is in it. To be called while the cache is locked.

    Works for an ordinary user too: the files are then theirs, where the packages say root's. What
    the testbed runs of them reads its files and asks for no owner.
    """
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching packages")
    with cache.making(recipe) as folder, cache.scratch("apt") as scratch:
        with apt.updated(scratch) as lists:
            packages = lists.closure(recipe.inputs["packages"].decode().split("\n"))
            archives = scratch / "archives"
            archives.mkdir()
            lists.download(packages, archives)
            root = folder / "root"
            unpack_archives(archives, root, log=scratch / "dpkg.log")
        for path in with_set_id(root):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~SET_ID)
        (folder / "packages.txt").write_text(listing(packages))


def with_set_id(root: Path) -> Iterator[Path]:
    """Files that would run as their owner: passwd and login come as dependencies of others."""
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_mode & SET_ID:
            yield path


def listing(packages: tuple[Package, ...]) -> str:
    return "".join(f"{package}\n" for package in packages)


def unpack_archives(archives: Path, root: Path, log: Path) -> None:
    """All packages of the folder *archives* into *root*, each with its files alone."""
    for archive in sorted(archives.glob("*.deb")):
        commands.run(
            ["dpkg-deb", "--extract", archive, root],
            log=log,
            environment={"PATH": unpacked.SYSTEM, "LC_ALL": "C"},
        )
