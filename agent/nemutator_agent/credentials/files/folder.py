"""A folder of this machine with a file for each of some secrets."""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.files import no_space
from nemutator_common.secret import Secret

MODE = 0o400

ENTERED = 0o711
"""Others may open the file that they own and know the name of; they may not list the rest."""

_WAITING = ".new"
"""No secret has a name that begins with a dot."""


@dataclass(frozen=True, slots=True)
class SecretFolder:
    """A `FileFolder`. It is made when the first file is, and its path is trusted: who starts the process
    names it."""

    path: Path

    def path_of(self, name: str) -> str:
        return str(self.path / name)

    async def write(self, name: str, value: Secret, *, owner: int) -> None:
        await self._changed(name, self._write, name, value.reveal().encode(), owner)

    async def remove(self, name: str) -> None:
        await self._changed(name, self._remove, name)

    async def _changed(self, name: str, change: Callable[..., None], *what: object) -> None:
        try:
            # In a thread, because a disk may be slow; once begun it is not given up.
            await asyncio.shield(asyncio.to_thread(change, *what))
        except PermissionError as error:
            raise OperatorError(
                f"{self.path / name}: {error.strerror}",
                remedy="only root may give a file to another user: run `nemutator up` as root, or let "
                "the rule name the user who runs it",
                code=ExitCode.DATA_DIRECTORY,
            ) from error
        except OSError as error:
            raise OperatorError(
                f"{self.path / name}: {error.strerror}",
                remedy=f"make room on the disk of {self.path}, and see that it is a directory and "
                "writable (credentials.files_dir)",
                code=ExitCode.NO_SPACE if no_space(error) else ExitCode.DATA_DIRECTORY,
            ) from error

    def _write(self, name: str, value: bytes, owner: int) -> None:
        self._make()
        with self._opened() as folder:
            if _is_so(folder, name, value, owner):
                # A restart must not look like a change.
                return
            with contextlib.suppress(FileNotFoundError):
                os.unlink(_WAITING, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(_WAITING, flags, 0o600, dir_fd=folder)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(value)
                    file.flush()
                    os.fchmod(fd, MODE)
                    if owner != os.geteuid():
                        os.fchown(fd, owner, -1)
                os.replace(_WAITING, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(_WAITING, dir_fd=folder)
                raise

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError), self._opened() as folder:
            os.unlink(name, dir_fd=folder)

    def _make(self) -> None:
        with contextlib.suppress(FileExistsError):
            self.path.mkdir()
            self.path.chmod(ENTERED)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield folder
        finally:
            os.close(folder)


def _is_so(folder: int, name: str, value: bytes, owner: int) -> bool:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        return (
            stat.S_ISREG(found.st_mode)
            and (stat.S_IMODE(found.st_mode), found.st_uid) == (MODE, owner)
            and file.read(len(value) + 1) == value
        )
