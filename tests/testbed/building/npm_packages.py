"""Packages of npm, each checked by its hash and unpacked into the cache; nothing in them is run."""

import base64
import hashlib
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import commands
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Unpack the part's package. To be called while the cache is locked."""
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching its package")
    name, integrity = (recipe.inputs[one].decode() for one in ("package", "integrity"))
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        options: list[str | Path] = ["--ignore-scripts", "--pack-destination", scratch]
        try:
            commands.run(
                ["npm", "pack", name, *options], log=scratch / "npm.log", environment=os.environ
            )
        except CommandError as failed:
            raise MissingPartError(
                f"npm could not fetch it: {failed}\n  remedy: install npm, and let it reach its registry"
            ) from failed
        (archive,) = scratch.glob("*.tgz")
        if integrity != integrity_of(archive.read_bytes()):
            raise MissingPartError(f"npm has fetched a {name} that is not the one that is locked")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")


def integrity_of(content: bytes) -> str:
    """As npm writes it into its locks."""
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
