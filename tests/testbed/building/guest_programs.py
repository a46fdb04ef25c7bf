"""Debian packages on a disk for a guest, unpacked: with all that they need, whatever this machine has."""

from collections.abc import Callable

from tests.testbed.building import apt, archives, debian_packages, disks
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe


def build(disk: str, recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make *disk*, and the list of what is on it. To be called while the cache is locked."""
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching packages")
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        log, fetched, root = scratch / "disk.log", scratch / "archives", scratch / "root"
        (scratch / "apt").mkdir()
        fetched.mkdir()
        try:
            with apt.updated(scratch / "apt", archives.archive(scratch)) as lists:
                packages = lists.closure(recipe.inputs["packages"].decode().split("\n"))
                lists.download(packages, fetched)
            debian_packages.unpack_archives(fetched, root, log=log)
            disks.make(root, folder / disk, "2G", log=log)
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed
        (folder / "packages.txt").write_text(debian_packages.listing(packages))
