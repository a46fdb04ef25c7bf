"""Replaces a file in one step, for every process of ours that saves something in a file."""

import errno
import os
from pathlib import Path


def replace_file(path: Path, content: bytes, *, durable: bool, mode: int = 0o600) -> None:
    """*path* has all of *content*, or what it had before, even if the process is killed meanwhile.

    With *durable* this also holds when the machine loses power; each such call waits for the disk.
    Only this user can read the file, unless *mode* says so. Raises OSError, and then leaves no other file beside *path*.
    """
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            if mode != 0o600:
                os.fchmod(fd, mode)
            file.write(content)
            file.flush()
            if durable:
                os.fsync(fd)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if durable:
        _sync_directory(path.parent)


def no_space(error: OSError) -> bool:
    """Whether only more space on the disk, or a larger quota, would help."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _sync_directory(path: Path) -> None:
    """Flush the directory: the new name is durable only when its directory is."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
