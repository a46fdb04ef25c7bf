"""Drop-ins as files of systemd's folder."""

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from nemutator_common.files import replace_file
from nemutator_common.slow_disk import on_disk

from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.units.drop_ins import FILE
from nemutator_controller.units.refusals import (
    DropInChangedError,
    UnitRefusedError,
    UnitsUnavailableError,
)
from nemutator_controller.units.unit_names import name_fault

T = TypeVar("T")

DEADLINE_S = 5.0
LARGEST = 1 << 16
MODE = 0o644
"""systemd complains about files that not everybody may read, and there is no secret in one."""

_RIGHTS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class DropInFiles:
    """`DropIns` below *root*, as `/etc/systemd/system`."""

    _turn = threading.Lock()
    """Of all of them: what gives and what takes back have one each."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, unit: str) -> str:
        return str(self._path(unit))

    async def read(self, unit: str) -> Maybe:
        path = self._path(unit)
        return await self._outside(lambda: _read(path))

    async def check(self, unit: str) -> None:
        folder = self._path(unit).parent
        await self._outside(lambda: _check(folder))

    async def replace(self, unit: str, *, before: Maybe, after: Maybe) -> None:
        path = self._path(unit)
        await self._outside(lambda: _replace(path, before, after))

    def _path(self, unit: str) -> Path:
        if fault := name_fault(unit):
            raise UnitRefusedError(fault, "name a service of systemd")
        return self._root / f"{unit}.d" / FILE

    async def _outside(self, work: Callable[[], T]) -> T:
        try:
            return await on_disk(work, self._turn, within_s=DEADLINE_S)
        except TimeoutError:
            raise UnitsUnavailableError(
                f"{self._root}: the disk does not answer", "ask again"
            ) from None
        except OSError as error:
            remedy = "make room there, or mend the disk"
            if error.errno in _RIGHTS:
                remedy = (
                    "run `nemutator up` as root, or name a folder of its own (brain.unit_folder)"
                )
            elif not self._root.is_dir():
                remedy = "name the folder of systemd's units (brain.unit_folder)"
            what = f"{error.filename or self._root}: {error.strerror}"
            raise UnitsUnavailableError(what, remedy) from error


def _read(path: Path) -> Maybe:
    try:
        # A link can lead anywhere, and reading a pipe may never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise _in_the_way(path) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _in_the_way(path)
        body = os.read(fd, LARGEST + 1)
    finally:
        os.close(fd)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    if len(body) > LARGEST or (body and not text):
        raise UnitRefusedError(f"{path}: it is no drop-in of ours", "move it away")
    return (text,)


def _check(folder: Path) -> None:
    there = os.path.lexists(folder)
    if there and (folder.is_symlink() or not folder.is_dir()):
        raise _in_the_way(folder)
    at = folder if there else folder.parent
    if not at.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(at))
    if not os.access(at, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(at))


def _replace(path: Path, before: Maybe, after: Maybe) -> None:
    _check(path.parent)
    if _read(path) != before:
        raise DropInChangedError(str(path))
    if after:
        path.parent.mkdir(mode=0o755, exist_ok=True)
        replace_file(path, after[0].encode(), durable=True, mode=MODE)
        return
    path.unlink(missing_ok=True)
    try:
        path.parent.rmdir()
    except OSError as error:
        # Others have drop-ins in it, too.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise


def _in_the_way(path: Path) -> UnitRefusedError:
    return UnitRefusedError(f"{path}: it is no file, or its folder is none", "move it away")
