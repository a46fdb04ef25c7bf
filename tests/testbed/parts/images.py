"""OCI images from folders, and the two small ones that the node and most tests need.

The same folder gives the same bytes: nothing of when, where and by whom it was packed gets in.
"""

import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.testbed.building import made

# On each node: docker.io would be looked up, localhost nobody takes for a registry.
BUSYBOX = "localhost/testbed/busybox:1"
PAUSE = "localhost/testbed/pause:1"
MEDIA = "application/vnd.oci.image"
CALL_S = 60.0
PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"
GROUP = "root:x:0:\nnogroup:x:65534:\n"
# It holds the namespaces of a pod: ends when asked, and takes in orphans, as process 1 must.
HOLD = "trap 'exit 0' TERM INT; while :; do sleep 86400 & wait; done"


@dataclass(frozen=True, slots=True)
class Image:
    """How an image is called and what it starts."""

    name: str
    """In full, as docker.io/library/busybox:1."""
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    architecture: str = field(default_factory=lambda: made.this_machine().architecture)


def archive(folder: Path, image: Image, into: Path) -> Path:
    """Pack *folder* as the only layer of *image* in an OCI archive, which is *into*.

    Modes and links are kept, everything is root's, extended attributes are left out. A socket in
    *folder* is a ValueError.
    """
    with tempfile.TemporaryDirectory(dir=into.parent) as beside:
        layer, unfinished = Path(beside, "layer"), Path(beside, "archive")
        _write_layer(folder, layer)
        with layer.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        config = _json(_config(image, digest))
        manifest = _json(_manifest(config, digest, layer.stat().st_size))
        with _tar(unfinished) as tar:
            _add(tar, "blobs/sha256/" + _digest(config), config)
            _add(tar, "blobs/sha256/" + _digest(manifest), manifest)
            entry = tarfile.TarInfo(f"blobs/sha256/{digest}")
            entry.size, entry.mode = layer.stat().st_size, 0o644
            with layer.open("rb") as file:
                tar.addfile(entry, file)
            _add(tar, "index.json", _json(_index(image, manifest)))
            _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        unfinished.rename(into)
    return into


def busybox(program: Path, into: Path) -> Path:
    """An image of one static *program* that is a shell and all the commands that go with it."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for name, mode in {"root": 0o700, "tmp": 0o1777, "etc": 0o755}.items():
            _folder(root / name, mode)
        _file(root / "etc" / "passwd", PASSWD.encode(), 0o644)
        _file(root / "etc" / "group", GROUP.encode(), 0o644)
        _install(program, _applets(program), root)
        return archive(root, Image(BUSYBOX, command=["sh"]), into)


def pause(program: Path, into: Path) -> Path:
    """The image of sandboxes, with *program* as its shell."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        _install(program, ["sh", "sleep"], root)
        return archive(root, Image(PAUSE, entrypoint=["/bin/sh", "-c", HOLD]), into)


def _install(program: Path, applets: Sequence[str], root: Path) -> None:
    _folder(root / "bin", 0o755)
    _file(root / "bin" / "busybox", program.read_bytes(), 0o755)
    for applet in applets:
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")


# What our own umask takes away, users in containers would miss.
def _folder(path: Path, mode: int) -> None:
    path.mkdir()
    path.chmod(mode)


def _file(path: Path, content: bytes, mode: int) -> None:
    path.write_bytes(content)
    path.chmod(mode)


def _applets(program: Path) -> list[str]:
    listed = subprocess.run(
        [program, "--list"], capture_output=True, text=True, timeout=CALL_S, check=True
    )
    return listed.stdout.split()


def _write_layer(folder: Path, layer: Path) -> None:
    with _tar(layer) as tar:
        for path in _below(folder):
            entry = tar.gettarinfo(path, str(path.relative_to(folder)))
            if entry is None:
                raise ValueError(f"{path} is a socket, which no image can hold")
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            if entry.isfile():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)


def _below(folder: Path) -> Iterator[Path]:
    """Everything in *folder*, links not followed, each folder before what is in it."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))


def _config(image: Image, layer_digest: str) -> dict[str, Any]:
    started = {
        "Entrypoint": list(image.entrypoint),
        "Cmd": list(image.command),
        "Env": [f"{name}={value}" for name, value in _environment(image).items()],
    }
    return {
        "architecture": image.architecture,
        "os": "linux",
        "config": {name: value for name, value in started.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
    }


def _environment(image: Image) -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **image.environment}


def _manifest(config: bytes, layer_digest: str, layer_size: int) -> dict[str, Any]:
    layer = {
        "mediaType": f"{MEDIA}.layer.v1.tar",
        "digest": f"sha256:{layer_digest}",
        "size": layer_size,
    }
    return {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}.manifest.v1+json",
        "config": _described(f"{MEDIA}.config.v1+json", config),
        "layers": [layer],
    }


def _index(image: Image, manifest: bytes) -> dict[str, Any]:
    named = {"annotations": {"io.containerd.image.name": image.name}}
    return {
        "schemaVersion": 2,
        "manifests": [_described(f"{MEDIA}.manifest.v1+json", manifest) | named],
    }


def _described(media_type: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{_digest(blob)}", "size": len(blob)}


def _digest(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _tar(path: Path) -> tarfile.TarFile:
    # PAX, because the older formats end names at 100 or 256 bytes.
    return tarfile.open(path, "w", format=tarfile.PAX_FORMAT)


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    tar.addfile(entry, io.BytesIO(content))
