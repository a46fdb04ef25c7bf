"""An archive holds what its folder holds, under digests that are true, and nothing of its packing."""

import hashlib
import io
import json
import os
import socket
import stat
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.testbed.parts import images
from tests.testbed.parts.images import Image

IMAGE = Image("localhost/show:1", command=["sh"], environment={"A": "b"}, architecture="amd64")

# Longer than the oldest tar format takes, and not ASCII alone.
names = st.text(st.sampled_from("abé -.'"), min_size=1, max_size=120).filter(
    lambda name: name not in {".", ".."}
)
modes = st.sampled_from([0o600, 0o644, 0o755, 0o4755])
trees = st.recursive(
    st.tuples(modes, st.binary(max_size=2000)) | names,  # a file, or a link to a name
    lambda below: st.dictionaries(names, below, max_size=4),
    max_leaves=12,
)
folders = st.dictionaries(names, trees, max_size=4)
Tree = Mapping[str, Any]


def plant(folder: Path, tree: Tree, *, backwards: bool = False) -> None:
    for name, content in sorted(tree.items(), reverse=backwards):
        path = folder / name
        match content:
            case str():
                path.symlink_to(content)
            case (mode, data):
                path.write_bytes(data)
                path.chmod(mode)
            case _:
                path.mkdir(mode=0o755)
                plant(path, content, backwards=backwards)


def blob(archive: tarfile.TarFile, described: Mapping[str, Any]) -> io.BytesIO:
    """What a descriptor leads to, after its digest and size were checked."""
    algorithm, _, digest = described["digest"].partition(":")
    found = archive.extractfile(f"blobs/{algorithm}/{digest}")
    assert found is not None
    content = found.read()
    assert hashlib.new(algorithm, content).hexdigest() == digest
    assert len(content) == described["size"]
    return io.BytesIO(content)


def opened(archive: tarfile.TarFile) -> tuple[dict[str, Any], dict[str, Any], tarfile.TarFile]:
    """The descriptor in the index, the configuration, and the layer."""
    index = archive.extractfile("index.json")
    assert index is not None
    (described,) = json.load(index)["manifests"]
    manifest = json.load(blob(archive, described))
    (layer,) = manifest["layers"]
    config = json.load(blob(archive, manifest["config"]))
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]
    return described, config, tarfile.open(fileobj=blob(archive, layer))


def planted(tree: Tree, where: Path, *, backwards: bool = False) -> bytes:
    folder = where / ("second" if backwards else "first")
    folder.mkdir()
    plant(folder, tree, backwards=backwards)
    if backwards:
        os.utime(folder, (1, 1))
    return images.archive(folder, IMAGE, where / f"{folder.name}.tar").read_bytes()


@pytest.mark.slow
@given(folders)
@settings(max_examples=15)
def test_the_same_content_gives_the_same_bytes_whenever_it_was_written(tree: Tree) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        where = Path(temporary)
        assert planted(tree, where) == planted(tree, where, backwards=True)


@pytest.mark.slow
@given(folders)
@settings(max_examples=15)
def test_the_layer_is_the_folder(tree: Tree) -> None:
    def check(layer: tarfile.TarFile, tree: Tree, above: str) -> int:
        count = len(tree)
        for name, content in tree.items():
            entry = layer.getmember(above + name)
            assert (entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, "", "")
            match content:
                case str():
                    assert entry.issym()
                    assert entry.linkname == content
                case (mode, data):
                    file = layer.extractfile(entry)
                    assert file is not None
                    assert (stat.S_IMODE(entry.mode), file.read()) == (mode, data)
                case _:
                    assert entry.isdir()
                    count += check(layer, content, f"{above}{name}/")
        return count

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "root")
        folder.mkdir()
        plant(folder, tree)
        archive = images.archive(folder, IMAGE, Path(temporary, "image.tar"))
        with tarfile.open(archive) as tar:
            _, _, layer = opened(tar)
            with layer:
                assert check(layer, tree, "") == len(layer.getmembers())


def test_the_archive_says_how_its_image_is_called_and_what_it_starts(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    archive = images.archive(tmp_path / "root", IMAGE, tmp_path / "image.tar")
    with tarfile.open(archive) as tar:
        described, config, layer = opened(tar)
        layer.close()
    assert described["annotations"] == {"io.containerd.image.name": "localhost/show:1"}
    assert (config["architecture"], config["os"]) == ("amd64", "linux")
    assert config["config"]["Cmd"] == ["sh"]
    assert "Entrypoint" not in config["config"]
    assert config["config"]["Env"][0].startswith("PATH=/")
    assert "A=b" in config["config"]["Env"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image.tar", "root"]


def test_a_file_with_two_names_stays_one(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "one").write_bytes(b"content")
    (folder / "two").hardlink_to(folder / "one")
    with tarfile.open(images.archive(folder, IMAGE, tmp_path / "image.tar")) as tar:
        _, _, layer = opened(tar)
        with layer:
            two = layer.extractfile("two")
            assert two is not None
            assert two.read() == b"content"
            assert layer.getmember("two").islnk()


def test_a_socket_is_refused_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
        with pytest.raises(ValueError, match="root/s is a socket"):
            images.archive(folder, IMAGE, tmp_path / "image.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
