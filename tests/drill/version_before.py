"""The version that an installation is upgraded from, as git has it.

It is the newest release that is not today's. While nothing has been released, it is what there was before the form of the
database changed last: whoever upgrades from there has data that must be rewritten.
"""

import io
import subprocess
import tarfile
from pathlib import Path

from nemutator_controller.database.schema import HEAD
from nemutator_controller.database.upgrade import MIGRATIONS

from tests.testbed.building.cache import MissingPartError

REPOSITORY = Path(__file__).parents[2]
GIT_S = 60


def found() -> str:
    """Its commit."""
    released = _git("tag", "--list", "v*", "--sort=-version:refname", "--merged=HEAD^").split()
    if released:
        return _git("rev-parse", f"{released[0]}^{{commit}}").strip()
    [step] = (MIGRATIONS / "versions").glob(f"r{HEAD}_*.py")
    # The oldest of several: a file can have been away in between.
    added = _git("log", "--diff-filter=A", "--format=%H", "--", str(step)).split()
    if not added:
        raise MissingPartError("there is no history of this tree: fetch it (git fetch --unshallow)")
    return _git("rev-parse", f"{added[-1]}^").strip()


def unpacked(commit: str, into: Path) -> Path:
    """The tree of *commit*, in the empty folder *into*."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit],
        cwd=REPOSITORY,
        capture_output=True,
        timeout=GIT_S,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tar:
        tar.extractall(into, filter="data")
    return into


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=GIT_S, check=False
    )
    if done.returncode != 0:
        raise MissingPartError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout
