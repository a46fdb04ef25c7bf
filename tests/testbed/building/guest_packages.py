"""The disk with what our own packages need in a guest, and what runs their tests there."""

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import commands, disks, made
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe

PLATFORMS = ("manylinux2014", "manylinux_2_28", "manylinux_2_34")


def build(
    recipe: Recipe, cache: Cache, say: Callable[[str], None], *, architecture: str = "amd64"
) -> None:
    """Make `packages.img` of what is locked. To be called while the cache is locked."""
    # For the Python that the guest has, whichever runs here.
    version = (made.guest(architecture) / "python").read_text()
    processor = made.MACHINES[architecture]
    cache.check_disk(recipe)
    say(f"{recipe.part}: fetching locked packages")
    with cache.making(recipe) as folder, cache.scratch("packages") as scratch:
        log = scratch / "packages.log"
        lock = scratch / "requirements.txt"
        lock.write_bytes(recipe.inputs["requirements"])
        content = scratch / "content"
        install: list[str | Path] = [
            *(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"),
            *("--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile"),
            *(f"--platform={name}_{processor}" for name in PLATFORMS),
            *("--implementation=cp", f"--python-version={version}"),
            *("--target", content, "--requirement", lock),
        ]
        try:
            commands.run(install, log=log, environment=os.environ)
            if is_our_python(version):
                # Here it takes a moment, on an emulated CPU minutes.
                compile_all: list[str | Path] = [
                    sys.executable,
                    "-m",
                    "compileall",
                    "-q",
                    "-s",
                    content,
                    content,
                ]
                commands.run(compile_all, log=log, environment=os.environ)
            disks.make(content, folder / "packages.img", "2G", log=log)
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed


def is_our_python(version: str) -> bool:
    """Whether what is compiled here is compiled for a guest of that version of Python."""
    return platform.python_version().startswith(f"{version}.")
