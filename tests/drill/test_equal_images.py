"""Equal sources make equal images: each is built twice from nothing, a while apart."""

import os
import tarfile
from pathlib import Path

import pytest

from tests.testbed.building import made, pip_settings
from tests.testbed.building.buildah import Buildah
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts import build_contexts

REPOSITORY = Path(__file__).parents[2]
DATED = 1_800_000_000

pytestmark = pytest.mark.timeout(3600)


@pytest.mark.parametrize("image", ["agent", "controller"])
def test_two_builds_are_equal_to_the_byte(image: str, tmp_path: Path) -> None:
    first, second = (built(image, tmp_path / turn) for turn in ("first", "second"))
    assert first == second
    print(f"{image}: {len(first)} blobs, {sum(first.values()) / 1e6:.1f} MB")


def built(image: str, folder: Path) -> dict[str, int]:
    """The blobs of an image, which are named by their digests, with their sizes."""
    with skipped_when_missing():
        base, tools = made.base_image(), made.debian("images")
    context, working, archive = folder / "context", folder / "buildah", folder / "image.tar"
    context.mkdir(parents=True)
    working.mkdir()
    build_contexts.copy(REPOSITORY, context)
    lent = pip_settings.lent(os.environ, folder)
    volumes = [f"--volume={path}:{inside}:ro" for path, inside in lent.items()]
    buildah = Buildah(tools, working)
    buildah("pull", "--quiet", f"oci-archive:{base}")
    buildah(
        "bud", "--isolation=chroot", "--pull-never", "--no-cache", *volumes,
        f"--timestamp={DATED}", "--omit-history", f"--file={REPOSITORY / f'Dockerfile.{image}'}", f"--tag={image}", context,
    )  # fmt: skip
    buildah("push", "--quiet", image, f"oci-archive:{archive}")
    with tarfile.open(archive) as found:
        return {each.name: each.size for each in found if each.name.startswith("blobs/sha256/")}
