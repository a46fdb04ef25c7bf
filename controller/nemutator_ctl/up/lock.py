"""The lock of a data directory: one `up` at a time.

It is a flock, so a process that is killed leaves none behind. The children inherit it, so a new
`up` waits for the last of a killed one's children instead of fighting them for their addresses.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator

from nemutator_common.clocks import Clock
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import explained
from nemutator_common.errors import ExitCode, OperatorError

LEFTOVERS_S = 20.0
"""Longer than the children of a killed `up` take to notice and to drain, on a very slow machine."""

STEP_S = 0.05
"""Between two attempts, which is also how late Ctrl-C is noticed."""


@contextlib.asynccontextmanager
async def held(
    directory: DataDirectory, *, stop: asyncio.Event, clock: Clock
) -> AsyncIterator[int | None]:
    """Hold the lock of *directory*, whose descriptor this is; its file is gone afterwards.

    None when *stop* came while the children of a killed `up` still held it.
    """
    deadline = clock.monotonic() + LEFTOVERS_S
    while (fd := _locked(directory)) is None and not stop.is_set():
        owner = _owner(directory)
        if _alive(owner) or clock.monotonic() >= deadline:
            raise _refusal(directory, owner)
        await clock.sleep(STEP_S)
    if fd is None:
        yield None
        return
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield fd
    finally:
        # While we still hold it: a waiter then finds that its file is no longer the one in the directory.
        directory.lock.unlink(missing_ok=True)
        os.close(fd)


def _locked(directory: DataDirectory) -> int | None:
    with explained(directory.lock):
        fd = os.open(directory.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Its last owner may have taken the file away between our open and our flock.
        if os.path.samestat(os.fstat(fd), directory.lock.stat()):
            return fd
    os.close(fd)
    return None


def _owner(directory: DataDirectory) -> int | None:
    """The pid in the lock file; None when it holds no pid (yet)."""
    try:
        return int(directory.lock.read_bytes()[:20])
    except (OSError, ValueError):
        return None


def _alive(pid: int | None) -> bool:
    if pid is None or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _refusal(directory: DataDirectory, owner: int | None) -> OperatorError:
    if _alive(owner):
        return OperatorError(
            f"nemutator already runs on {directory.root}, as process {owner}",
            remedy="use that one (`nemutator link` prints a link to it), stop it, or name another"
            " directory with --data-dir",
            code=ExitCode.ALREADY_RUNNING,
        )
    return OperatorError(
        f"processes of a nemutator that died still run on {directory.root}",
        remedy=f"end them: `fuser {directory.lock}` names them",
        code=ExitCode.ALREADY_RUNNING,
    )
