"""Kubernetes, Vault and a client of it, compiled from their modules; only the binary stays.

Modules and objects take 15 GB, so each build has its own caches and removes them: a
developer's own Go caches neither grow by it nor decide what comes out of it.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.testbed.building import commands, progress
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.made import PROGRAMS
from tests.testbed.building.recipes import Recipe, go_flags, go_package
from tests.testbed.building.toolchain import go_for

# What of a developer's settings would change the binary, or the place where Go works.
UNWANTED = frozenset(
    {"GOROOT", "GOOS", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GODEBUG", "GOFIPS140", "GOBIN"}
)


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Compile one of our programs into the cache. To be called while the cache is locked."""
    _build(recipe, cache, say, {recipe.part: False})


def build_kinds(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """The same for the program that is compiled with C in it, too."""
    _build(recipe, cache, say, {recipe.part: False, f"{recipe.part}-cgo": True})


def _build(
    recipe: Recipe, cache: Cache, say: Callable[[str], None], binaries: Mapping[str, bool]
) -> None:
    """*binaries*: the name of each, and whether there is C in it."""
    cache.check_disk(recipe)
    module = PROGRAMS / recipe.part
    go_mod = recipe.inputs["go.mod"].decode()
    go = go_for(go_mod, cache, say)
    with cache.making(recipe) as folder, cache.scratch(recipe.part) as scratch:
        environment = go_environment(
            os.environ, scratch=scratch, architecture=recipe.inputs["GOARCH"].decode()
        )
        for name in ("GOCACHE", "GOMODCACHE", "GOTMPDIR"):
            Path(environment[name]).mkdir()
        try:
            for binary, cgo in binaries.items():
                settings = environment | {"CGO_ENABLED": str(int(cgo))}
                work = _Work(recipe, go, module, settings, scratch, say)
                work.compile(work.download(), folder / binary)
        except CommandError as failed:
            raise MissingPartError(
                f"could not be built: {failed}\n"
                "  remedy: when modules could not be fetched, see that GOPROXY can be reached; "
                "then make testbed again"
            ) from failed


def go_environment(
    inherited: Mapping[str, str], *, scratch: Path, architecture: str
) -> dict[str, str]:
    """The user's own, for proxies and certificates, without what would change the binary."""
    kept = {name: value for name, value in inherited.items() if name not in UNWANTED}
    return kept | {
        "CGO_ENABLED": "0",
        "GOARCH": architecture,
        "GOOS": "linux",
        "GOWORK": "off",
        "GOTOOLCHAIN": "local",
        # Not empty: an empty one lets the flags of the user's go/env file through.
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOCACHE": str(scratch / "objects"),
        "GOMODCACHE": str(scratch / "modules"),
        # Linking takes more than the /tmp of many machines has.
        "GOTMPDIR": str(scratch / "work"),
    }


class _Work:
    def __init__(
        self,
        recipe: Recipe,
        go: Path,
        module: Path,
        environment: Mapping[str, str],
        scratch: Path,
        say: Callable[[str], None],
    ) -> None:
        self._recipe = recipe
        self._go = go
        self._module = module
        self._environment = environment
        self._scratch = scratch
        self._say = say
        self._estimate_s = progress.estimate_for(os.cpu_count() or 1, recipe.estimate_s)

    def download(self) -> int:
        """Fetches the modules; the number of packages to compile."""
        spoken = progress.spoken(self._estimate_s)
        self._say(f"{self._recipe.part}: downloading modules; in all this takes about {spoken}")
        modules = Path(self._environment["GOMODCACHE"]) / "cache" / "download"

        def report() -> None:
            count = sum(1 for _ in modules.rglob("*.zip"))
            self._say(f"{self._recipe.part}: downloading, {count} modules so far")

        flags = go_flags(self._recipe.part, self._recipe.inputs["go.mod"].decode())
        listed = commands.read(
            [self._go, "list", *flags, "-deps", go_package(self._recipe.part)],
            log=self._scratch / "download.log",
            environment=self._environment,
            folder=self._module,
            report=report,
        )
        return len(listed.splitlines())

    def compile(self, packages: int, binary: Path) -> None:
        log = self._scratch / "compile.log"
        started = time.monotonic()

        def report() -> None:
            done = count_packages(log.read_text(errors="replace"))
            elapsed_s = time.monotonic() - started
            estimate_s = self._estimate_s
            doing = "linking" if done >= packages - 1 else "compiling"
            line = progress.line(
                done=done, total=packages, elapsed_s=elapsed_s, estimate_s=estimate_s
            )
            self._say(f"{self._recipe.part}: {doing}, {line}")

        self._say(f"{self._recipe.part}: compiling {packages} packages")
        flags = go_flags(self._recipe.part, self._recipe.inputs["go.mod"].decode())
        commands.run(
            [self._go, "build", "-v", *flags, "-o", binary, go_package(self._recipe.part)],
            log=log,
            environment=self._environment,
            folder=self._module,
            report=report,
        )
        elapsed = progress.spoken(time.monotonic() - started)
        self._say(f"{self._recipe.part}: compiled in {elapsed}")


def count_packages(log: str) -> int:
    """How many packages `go build -v` has named: it names each one, alone on a line."""
    return sum(1 for line in log.splitlines() if line and " " not in line)
