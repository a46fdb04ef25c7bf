"""Dockerfiles are built for real: commands run, packages are installed, the result is an image."""

import json
import secrets
import stat
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed import remains
from tests.testbed.building import made
from tests.testbed.building.cache import MissingPartError, directory
from tests.testbed.building.commands import CommandError
from tests.testbed.parts import dockerfiles

TAG = "localhost/testbed/dockerfile-proof:1"

DOCKERFILE = """\
FROM {base}
RUN rm /etc/issue.net && mkdir /opt/made && id -u > /opt/made/by-run
RUN apt-get update && apt-get install --yes --no-install-recommends tini \\
    && rm -rf /var/lib/apt/lists/*
COPY greet.sh /usr/local/bin/greet
COPY . /opt/context/
ENV GREETING="good morning"
USER 1000:1000
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/greet"]
"""


@pytest.fixture
def base() -> str:
    """What a Dockerfile calls the image that everything stands on."""
    try:
        made.base_image()
    except MissingPartError as missing:
        pytest.skip(str(missing))
    return made.base_image_name().removeprefix("docker.io/library/")


def built(folder: Path, dockerfile: str, tag: str = TAG) -> Path:
    file = folder / "Dockerfile"
    file.write_text(dockerfile)
    try:
        return dockerfiles.build(folder, file, tag)
    except MissingPartError as missing:
        pytest.skip(str(missing))


class Archive:
    """What is in an OCI archive of one image."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        (self.described,) = json.loads(self._read("index.json"))["manifests"]
        self.manifest = self._json(self.described)
        self.config = self._json(self.manifest["config"])
        self.layers = [layer["digest"] for layer in self.manifest["layers"]]

    def layer(self, digest: str) -> dict[str, tuple[int, bytes]]:
        """Mode and content of the files of a layer."""
        blob = self._tar.extractfile(_path(digest))
        assert blob
        with blob, tarfile.open(fileobj=blob) as tar:
            files = {}
            for entry in tar:
                content = tar.extractfile(entry) if entry.isreg() else None
                if content:
                    files[entry.name] = (stat.S_IMODE(entry.mode), content.read())
            return files

    def _json(self, described: dict[str, Any]) -> Any:
        return json.loads(self._read(_path(described["digest"])))

    def _read(self, name: str) -> bytes:
        file = self._tar.extractfile(name)
        assert file
        return file.read()


def _path(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


@pytest.mark.timeout(300)  # fetches packages, the first time
def test_a_dockerfile_becomes_an_image(base: str, tmp_path: Path) -> None:
    (tmp_path / "greet.sh").write_text('#!/bin/sh\necho "$GREETING"\n')
    (tmp_path / "greet.sh").chmod(0o755)
    (tmp_path / "own.key").write_text("not for the image")
    (tmp_path / ".dockerignore").write_text("*.key\n")
    archive = built(tmp_path, DOCKERFILE.format(base=base))
    with tarfile.open(archive) as tar, tarfile.open(made.base_image()) as base_tar:
        image, below = Archive(tar), Archive(base_tar)
        assert image.described["annotations"]["org.opencontainers.image.ref.name"] == TAG
        started = image.config["config"]
        assert started["Entrypoint"] == ["/usr/bin/tini", "--", "/usr/local/bin/greet"]
        assert started["User"] == "1000:1000"
        assert "GREETING=good morning" in started["Env"]
        deep = len(below.layers)
        assert image.layers[:deep] == below.layers
        files = dict[str, tuple[int, bytes]]()
        for layer in image.layers[deep:]:
            files |= image.layer(layer)
    assert "etc/.wh.issue.net" in files
    assert files["opt/made/by-run"][1] == b"0\n"
    assert files["usr/bin/tini"][1].startswith(b"\x7fELF")
    assert files["usr/local/bin/greet"] == (0o755, b'#!/bin/sh\necho "$GREETING"\n')
    assert "opt/context/greet.sh" in files
    assert "opt/context/own.key" not in files
    written = archive.stat().st_mtime_ns
    assert built(tmp_path, DOCKERFILE.format(base=base)) == archive
    assert archive.stat().st_mtime_ns == written, "built twice"
    (tmp_path / "greet.sh").write_text("#!/bin/sh\necho another\n")
    with tarfile.open(built(tmp_path, DOCKERFILE.format(base=base))) as tar:
        image = Archive(tar)
        assert any(b"another" in one for _, one in image.layer(image.layers[-1]).values())


@pytest.mark.timeout(900)  # unpacks the base, once no other build holds the cache
def test_a_dockerfile_that_fails_says_why_and_leaves_nothing(base: str, tmp_path: Path) -> None:
    own = f"failing-{secrets.token_hex(4)}"  # others may be building beside
    with pytest.raises(CommandError, match="words before the end"):
        built(
            tmp_path,
            f"FROM {base}\nRUN sleep 600 & echo words before the end && false\n",
            tag=f"localhost/{own}:1",
        )
    assert list(directory().glob(f"*{own}*")) == []
    assert remains.mounts(directory(), own) == []
    assert remains.processes(directory(), own) == []


@pytest.mark.timeout(900)  # unpacks the base, once no other build holds the cache
def test_no_image_is_fetched(base: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="image not known"):
        built(tmp_path, f"FROM {base} AS used\nFROM docker.io/library/busybox:1\nRUN true\n")
