"""Where the things that are made once are kept, outside the repository, until their inputs change.

A folder under its final name is complete: it is made under another name and renamed at the end,
so a build that was killed leaves only something that the next build takes away.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.testbed.building.recipes import KEY_LENGTH, Recipe

VARIABLE = "TESTBED_CACHE"
"""Not called like the settings of nemutator: its commands refuse what begins so and is none of them."""

UNFINISHED = ".making-"
GIGABYTE = 10**9


class MissingPartError(Exception):
    """A part that this machine cannot give, or that is not built yet: says which, and what to do."""


def directory(environment: Mapping[str, str] = os.environ) -> Path:
    """The cache of this user: TESTBED_CACHE, else nemutator in the user's cache directory."""
    if named := environment.get(VARIABLE):
        return Path(named).absolute()
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nemutator"


class Cache:
    """Folders by the key of their recipe, in *directory*; builders hold `locked` while they make."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def folder(self, recipe: Recipe) -> Path:
        """The finished folder of *recipe*; raises MissingPartError when it is not there."""
        folder = self.directory / recipe.folder
        if not folder.is_dir():
            raise MissingPartError(f"{recipe.part} is not built yet; remedy: make testbed")
        return folder

    def has(self, recipe: Recipe) -> bool:
        return (self.directory / recipe.folder).is_dir()

    @contextlib.contextmanager
    def locked(self, say: Callable[[str], None]) -> Iterator[None]:
        """Holds all other builds off, and takes away what killed ones have left."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = (self.directory / "lock").open("w")
        except OSError as error:
            raise MissingPartError(
                f"the cache cannot be written: {error}; remedy: {VARIABLE}=/another/folder"
            ) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"another build works in {self.directory}: waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            for unfinished in self.directory.glob(f"{UNFINISHED}*"):
                say(f"removing what a killed build has left: {unfinished.name}")
                # What a program of that build still writes to goes at the next build.
                shutil.rmtree(unfinished, ignore_errors=True)
            yield

    @contextlib.contextmanager
    def making(self, recipe: Recipe) -> Iterator[Path]:
        """An empty folder that becomes the recipe's when the block ends well, else goes away.

        Folders of the same part with other keys are removed then. To be called while locked.
        """
        folder = Path(tempfile.mkdtemp(prefix=f"{UNFINISHED}{recipe.part}-", dir=self.directory))
        # Some parts run as another user than the one who built them.
        folder.chmod(0o755)
        try:
            yield folder
            folder.rename(self.directory / recipe.folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        for other in self._of_part(recipe.part):
            if other.name != recipe.folder:
                shutil.rmtree(other)

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A folder for what is only needed while something is made. To be called while locked."""
        folder = Path(tempfile.mkdtemp(prefix=f"{UNFINISHED}{name}-", dir=self.directory))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _of_part(self, part: str) -> list[Path]:
        # Not a glob alone: `vault-*` would also find a part named vault-something.
        found = self.directory.glob(f"{part}-*")
        return [path for path in found if len(path.name) == len(part) + 1 + KEY_LENGTH]

    def check_disk(self, recipe: Recipe) -> None:
        """Raises MissingPartError when *recipe* needs more room than there is."""
        if shortage := disk_shortage(recipe, shutil.disk_usage(self.directory).free):
            raise MissingPartError(
                f"{shortage} on the file system of {self.directory}; "
                f"remedy: free some, or {VARIABLE}=/folder/on/another/disk make testbed"
            )


def disk_shortage(recipe: Recipe, free: int) -> str:
    """What is missing of *free* bytes for making *recipe*, in words; empty when nothing is."""
    if free >= recipe.room_gb * GIGABYTE:
        return ""
    # Cut, not rounded: 14.96 must not read as 15.0.
    there = free // (GIGABYTE // 10) / 10
    return f"making {recipe.part} needs {recipe.room_gb} GB, and {there:.1f} GB are free"
