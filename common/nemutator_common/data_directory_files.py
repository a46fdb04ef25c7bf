"""Makes the data directory, and reads and writes the link token in it.

The directory is private (0700), because whoever can enter it may call the sockets in it.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.files import no_space, replace_file
from nemutator_common.secret import Secret


def read_link_token(directory: DataDirectory) -> Secret:
    with explained(directory.link_token):
        return Secret(directory.link_token.read_text().strip())


def renew_link_token(directory: DataDirectory) -> None:
    with explained(directory.link_token):
        replace_file(directory.link_token, secrets.token_urlsafe(32).encode(), durable=False)


def named(path: Path) -> DataDirectory:
    """The directory that *path* names, with `~` expanded; it need not exist."""
    with explained(path):
        return DataDirectory(path.expanduser().absolute())


def prepare(path: Path) -> DataDirectory:
    """Make the directory when it is missing, and prove that it can be written."""
    directory = named(path)
    with explained(path):
        root = directory.root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            raise PermissionError(f"it belongs to user {status.st_uid}")
        if status.st_mode & 0o077:
            root.chmod(0o700)
        probe = root / f".probe-{os.getpid()}"
        try:
            # This is more than a file system can store inside an inode, so a full disk is found.
            probe.write_bytes(b"\0" * 8192)
        finally:
            probe.unlink(missing_ok=True)
    return directory


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a system error about *path* into an error that a person can act on."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OperatorError(
            f"data directory: {path}: {why}",
            remedy="name a directory that this user can write, with free space, with --data-dir",
            code=ExitCode.NO_SPACE if _has_no_room(error) else ExitCode.DATA_DIRECTORY,
        ) from error


def _has_no_room(error: Exception) -> bool:
    """Room may come back, so that what needs it is tried again."""
    return isinstance(error, OSError) and no_space(error)
