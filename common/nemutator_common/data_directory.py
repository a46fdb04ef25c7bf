"""The directory that the processes of one standalone machine share.

It is private (0700): whoever can enter it may talk to the sockets in it.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """Where everything of one `--data-dir` lies. `prepare()` makes one."""

    root: Path

    @property
    def lock(self) -> Path:
        """Held by `nemutator up`, with its pid in it."""
        return self.root / "lock"

    @property
    def database(self) -> Path:
        return self.root / "nemutator.db"

    @property
    def link_token(self) -> Path:
        """What proves that a local caller may enter this directory: 0600, new at each `up`."""
        return self.root / "link-token"

    @property
    def objects(self) -> Path:
        """Manifests, where there is no cluster that would keep them."""
        return self.root / "objects"

    def socket(self, role: str) -> Path:
        return self.root / f"{role}.sock"

    def read_link_token(self) -> Secret:
        with explained(self.link_token):
            return Secret(self.link_token.read_text().strip())

    def renew_link_token(self) -> None:
        """Replace the token at once, never leaving a half-written or readable one."""
        fresh = self.link_token.with_suffix(".new")
        with explained(self.link_token):
            fresh.unlink(missing_ok=True)
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "w") as file:
                file.write(secrets.token_urlsafe(32))
            fresh.replace(self.link_token)


def named(path: Path) -> DataDirectory:
    """The directory that *path* names, `~` included; it need not exist."""
    with explained(path):
        return DataDirectory(path.expanduser().absolute())


def prepare(path: Path) -> DataDirectory:
    """Make the directory when missing, and prove that it can be written."""
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
            # More than a file system can put beside an inode: a full disk must show here.
            probe.write_bytes(b"\0" * 8192)
        finally:
            probe.unlink(missing_ok=True)
    return directory


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the system says about *path* into an error that a person can act on."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OperatorError(
            f"data directory: {path}: {why}",
            remedy="name a directory that this user can write, with free space, with --data-dir",
            code=ExitCode.DATA_DIRECTORY,
        ) from error
