"""Packs a data directory into an archive, and unpacks one, checking each byte on its way."""

import contextlib
import gzip
import hashlib
import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from nemutator_ctl.backup.contents import (
    ABOUT,
    LARGEST_ABOUT,
    ROOT,
    About,
    BackedUpFile,
    BackupError,
    encoded,
    missing,
    read_about,
)

CHUNK = 1 << 20
SPARE = 64 << 20
"""Bytes that a disk must have left after an archive is unpacked."""


def described(path: Path) -> BackedUpFile:
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return BackedUpFile(size, digest.hexdigest())


def pack(about: About, files: Mapping[str, Path], to: IO[bytes]) -> None:
    """Write *files*, which *about* describes, to *to*."""
    with tarfile.open(fileobj=to, mode="w:gz", compresslevel=6) as packed:
        content = encoded(about)
        packed.addfile(_member(ABOUT, len(content), about.at), io.BytesIO(content))
        for name, path in files.items():
            with path.open("rb") as file:
                packed.addfile(_member(f"{ROOT}/{name}", about.files[name].size, about.at), file)


def _member(name: str, size: int, at: float) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, int(at), 0o600
    return member


def unpack(archive: IO[bytes], folder: Path, *, largest: int) -> About:
    """Write the files of *archive* below *folder*, which is ours alone; raises BackupError and OSError."""
    with _understood(), tarfile.open(fileobj=archive, mode="r|gz") as packed:
        members = iter(packed)
        first = next(members, None)
        if first is None or first.name != ABOUT or not first.isreg() or first.size > LARGEST_ABOUT:
            raise BackupError("it does not begin with a list of its contents")
        about = read_about(_opened(packed, first).read(LARGEST_ABOUT), largest=largest)
        wanted = sum(each.size for each in about.files.values())
        if wanted + SPARE > shutil.disk_usage(folder).free:
            raise BackupError(f"it unpacks to {wanted} bytes, and the disk has too little room")
        seen: dict[str, None] = {}
        for member in members:
            name = member.name.removeprefix(f"{ROOT}/")
            declared = about.files.get(name)
            if declared is None or not member.isreg() or name in seen or member.sparse:
                raise BackupError(f"it has what its list does not name: {member.name[:80]!r}")
            if member.size != declared.size:
                raise BackupError(f"{name} has another size than its list says")
            _write(_opened(packed, member), folder / name, declared, name)
            seen[name] = None
        if lost := missing(about, seen):
            raise BackupError(f"{lost} is not there: the archive is cut off")
    return about


def _opened(packed: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    found = packed.extractfile(member)
    if found is None:
        raise BackupError("it has something that is no file")
    return found


def _write(source: IO[bytes], target: Path, declared: BackedUpFile, name: str) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with open(
        os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb"
    ) as file:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    if digest.hexdigest() != declared.sha256:
        raise BackupError(f"{name} is damaged: it has another digest than its list says")


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, BackupError):
            raise
        raise BackupError(
            f"it is no archive of ours, or cut off ({type(error).__name__})"
        ) from None
