"""Files that a process names to tools, such as perf-PID.map and those with symbols: opened in its own mount namespace.

A path of the process may lead anywhere. openat2(2) keeps each step within its root, symbolic links
too, and follows none of /proc's links, which lead out of it.
"""

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError

_OPENAT2 = 437
"""The same number on x86-64 and arm64."""
_NO_MAGIC_LINKS, _IN_ROOT = 0x02, 0x10
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_perf_map(process: Path) -> int:
    """The open file of names that the process at /proc/PID has written. Raises ProcessGoneError where
    there is none, HiddenFileError where it may not be trusted or opened."""
    with _root(process) as (root, owner):
        try:
            number = _innermost_number((process / "status").read_bytes())
        except OSError:
            raise ProcessGoneError from None
        return _trusted(open_within(root, f"tmp/perf-{number}.map"), owner)


def open_first(process: Path, paths: Sequence[str]) -> int:
    """The first of *paths* that is there. Raises as `open_perf_map` does."""
    with _root(process) as (root, owner):
        for path in paths:
            with contextlib.suppress(ProcessGoneError, HiddenFileError):
                return _trusted(open_within(root, path), owner)
    raise ProcessGoneError


@contextlib.contextmanager
def _root(process: Path) -> Iterator[tuple[int, int]]:
    """The open root of a process, and its user."""
    try:
        owner = (process / "status").stat().st_uid
        root = os.open(process / "root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        raise HiddenFileError from None
    except OSError:
        raise ProcessGoneError from None
    try:
        yield root, owner
    finally:
        os.close(root)


def _trusted(file: int, owner: int) -> int:
    """Everybody may write into /tmp: a stranger's file would rename another one's functions."""
    if os.fstat(file).st_uid not in (0, owner):
        os.close(file)
        raise HiddenFileError
    return file


def open_within(root: int, path: str) -> int:
    """A regular file below the open directory *root*."""
    how = _OpenHow(flags=_FLAGS, mode=0, resolve=_IN_ROOT | _NO_MAGIC_LINKS)
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(
        _OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how))
    )
    if file < 0:
        failure = OSError(ctypes.get_errno(), "openat2")
        raise (HiddenFileError if isinstance(failure, PermissionError) else ProcessGoneError)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise HiddenFileError
    return int(file)


def _innermost_number(status: bytes) -> int:
    """The process's own number for itself, which is what it writes into names of files."""
    for line in status.split(b"\n"):
        if line.startswith(b"NSpid:"):
            return int(line.split()[-1])
    raise ProcessGoneError
