"""Images that a Dockerfile makes, built for real with buildah on the smallest Debian.

There is no registry: `FROM debian:bookworm-slim` is what the testbed has made by itself, and no
other image is there. What RUN fetches comes from where this machine fetches: its proxies and
certificates are lent to the build, and no part of the image.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.testbed.building import made, pip_settings
from tests.testbed.building.buildah import Buildah, stacks
from tests.testbed.building.cache import Cache, MissingPartError, directory
from tests.testbed.building.recipes import Recipe
from tests.testbed.parts import build_contexts

ARCHIVE = "image.tar"
# To be raised when the way of building changes so that what was built before will not do.
REVISION = 2
SHORT_NAME = 40

LAYERS = "layers"
MOST_BUILDS = 48
"""What older ones have left is asked for no more: then all begins anew."""


def build(folder: Path, dockerfile: Path, tag: str, *, say: Callable[[str], None] = print) -> Path:
    """The OCI archive of what *dockerfile* makes of *folder*, under the name *tag* (in full).

    It is kept in the cache: built again when the Dockerfile, a file of the folder that its
    .dockerignore leaves in, or the base has changed. Of several with the same tag the last is kept.
    Raises CommandError with the last words of a build that failed.
    """
    if os.geteuid() != 0:
        raise MissingPartError("a Dockerfile is built by root only: its RUN enters a chroot")
    base, tools = made.base_image(), made.debian("images")
    # Beside the rest: the turn there may be held by a compiler, for longer than a test may wait.
    cache = Cache(directory() / "images")
    recipe = recipe_of(folder, dockerfile, tag, base=base.parent.name)
    if not cache.has(recipe):
        with cache.locked(say):
            # Looked for again: another test may have built it while this one waited.
            if not cache.has(recipe):
                cache.check_disk(recipe)
                with cache.making(recipe) as made_here, cache.scratch(recipe.part) as scratch:
                    _build(folder, dockerfile, tag, scratch, tools, base, made_here / ARCHIVE)
    return cache.folder(recipe) / ARCHIVE


def recipe_of(folder: Path, dockerfile: Path, tag: str, *, base: str) -> Recipe:
    """What the image depends on; *base* is the key of the image below it."""
    inputs = {
        "context": build_contexts.fingerprint(folder),
        "dockerfile": dockerfile.read_bytes(),
        "tag": tag.encode(),
        "base": base.encode(),
        "revision": str(REVISION).encode(),
    }
    name = re.sub(r"[^a-z0-9]+", "-", tag.lower()).strip("-")[-SHORT_NAME:].strip("-")
    return Recipe(f"image-{name}", inputs, estimate_s=60, room_gb=2)


def _build(
    folder: Path,
    dockerfile: Path,
    tag: str,
    scratch: Path,
    tools: Path,
    base: Path,
    archive: Path,
) -> None:
    context = scratch / "context"
    context.mkdir()
    build_contexts.copy(folder, context)
    # Beside the context: it need not be a part of it.
    (scratch / "Dockerfile").write_bytes(dockerfile.read_bytes())
    lent = pip_settings.lent(os.environ, scratch)
    volumes = [f"--volume={path}:{inside}:ro" for path, inside in lent.items()]
    with _layers(tools, archive.parent.parent, scratch, base) as (buildah, options):
        buildah(
            "bud", "--isolation=chroot", "--pull-never", *options, *volumes,
            f"--file={scratch / 'Dockerfile'}", f"--tag={tag}", context,
        )  # fmt: skip
        buildah("push", "--quiet", tag, f"oci-archive:{archive}:{tag}")


@contextlib.contextmanager
def _layers(
    tools: Path, cache: Path, scratch: Path, base: Path
) -> Iterator[tuple[Buildah, list[str]]]:
    """A buildah that has the base, with its options.

    Where the file system can hold layers it takes those of earlier builds, such as installed packages.
    """
    probe, alone = scratch / "probe", scratch / "buildah"
    probe.mkdir()
    if not stacks(probe):
        alone.mkdir()
        yield _with_base(Buildah(tools, alone), base), []
        return
    kept = cache / LAYERS
    state = kept / "builds"
    # Where there is none, the last build was killed.
    builds = builds_on(state.read_text() if state.exists() else "", base.parent.name)
    if builds:
        state.unlink()
        buildah = Buildah(tools, kept, layers=True)
    else:
        if kept.exists():
            shutil.rmtree(kept)
        kept.mkdir()
        buildah = _with_base(Buildah(tools, kept, layers=True), base)
    try:
        yield buildah, ["--layers"]
    finally:
        state.write_text(f"{builds + 1} {base.parent.name}")


def builds_on(state: str, base: str) -> int:
    """How many builds have left layers upon *base*; 0 when the next one has to begin anew."""
    builds, _, last = state.partition(" ")
    return int(builds) if last == base and int(builds) < MOST_BUILDS else 0


def _with_base(buildah: Buildah, base: Path) -> Buildah:
    buildah("pull", "--quiet", f"oci-archive:{base}")
    return buildah
