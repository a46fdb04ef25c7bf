"""containerd 2 and runc, compiled from their modules: Debian's know no user namespaces of pods."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import commands, made
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.go_programs import go_environment
from tests.testbed.building.made import PROGRAMS
from tests.testbed.building.recipes import RUNTIME_FLAGS, Recipe
from tests.testbed.building.toolchain import go_for


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Compile the tools of the module into the cache. To be called while the cache is locked."""
    if shutil.which("cc") is None:
        raise MissingPartError("runc needs a C compiler; remedy: apt-get install gcc libc6-dev")
    seccomp = made.debian("seccomp") / "usr"
    cache.check_disk(recipe)
    go = go_for(recipe.inputs["go.mod"].decode(), cache, say)
    say(f"{recipe.part}: compiling containerd and runc; takes some 3 min")
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        try:
            commands.run(
                [go, "build", *RUNTIME_FLAGS, "-o", f"{folder}/", "tool"],
                log=scratch / "compile.log",
                environment=_environment(recipe, scratch, seccomp),
                folder=PROGRAMS / recipe.part,
            )
        except CommandError as failed:
            raise MissingPartError(f"could not be built: {failed}") from failed


def _environment(recipe: Recipe, scratch: Path, seccomp: Path) -> dict[str, str]:
    environment = go_environment(
        os.environ, scratch=scratch, architecture=recipe.inputs["GOARCH"].decode()
    )
    for name in ("GOCACHE", "GOMODCACHE", "GOTMPDIR"):
        Path(environment[name]).mkdir()
    (library,) = seccomp.glob("lib/*/libseccomp.a")
    return environment | {
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": f"-I{seccomp / 'include'}",
        "CGO_LDFLAGS": f"-L{library.parent} -l:{library.name}",
        # It would ask for a library that is installed.
        "PKG_CONFIG": "true",
    }
