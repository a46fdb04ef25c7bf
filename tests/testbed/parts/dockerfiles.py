"""Images that a Dockerfile makes, built for real with buildah on the smallest Debian.

There is no registry: `FROM debian:bookworm-slim` is what the testbed has made by itself, and no
other image is there. What RUN fetches comes from where this machine fetches: its proxies and
certificates are lent to the build, and no part of the image.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import made, pip_settings
from tests.testbed.building.buildah import Buildah
from tests.testbed.building.cache import Cache, MissingPartError, directory
from tests.testbed.building.recipes import Recipe
from tests.testbed.parts import build_contexts

ARCHIVE = "image.tar"
# To be raised when the way of building changes so that what was built before will not do.
REVISION = 1
SHORT_NAME = 40


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
    context, working = scratch / "context", scratch / "buildah"
    context.mkdir()
    working.mkdir()
    build_contexts.copy(folder, context)
    # Beside the context: it need not be a part of it.
    (scratch / "Dockerfile").write_bytes(dockerfile.read_bytes())
    lent = pip_settings.lent(os.environ, scratch)
    volumes = [f"--volume={path}:{inside}:ro" for path, inside in lent.items()]
    buildah = Buildah(tools, working)
    buildah("pull", "--quiet", f"oci-archive:{base}")
    buildah(
        "bud", "--isolation=chroot", "--pull-never", *volumes,
        f"--file={scratch / 'Dockerfile'}", f"--tag={tag}", context,
    )  # fmt: skip
    buildah("push", "--quiet", tag, f"oci-archive:{archive}:{tag}")
