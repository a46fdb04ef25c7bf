"""Directories and mounts of this machine, through mount(2) and umount2(2).

These calls need no thread: they touch memory and kubelet's own directories only, and none of them waits.
"""

import contextlib
import ctypes
import errno
import os
from dataclasses import dataclass
from pathlib import Path

from nemutator_agent.mount.mount_table import OWN_KIND, OWN_SOURCE, is_own, times_mounted
from nemutator_agent.publications import VolumeDirectory

OWN_FILES = (
    # Room for two generations of a pod's 256 KiB in whole pages, while one replaces the other.
    "size=1m,"
    # Room for two generations of 64 secrets, with directories, links and the socket.
    "nr_inodes=256,"
    "mode=0755,uid=0,gid=0"
)
SECRETS = "secrets"
"""The directory in which the pod's own processes write files, with any uid that they may have."""

_NOSUID, _NODEV, _NOEXEC, _BIND = 2, 4, 8, 4096
_DETACH, _NOFOLLOW = 2, 8
_MOST_STACKED = 8

_SOURCE, _KIND = OWN_SOURCE.decode(), OWN_KIND.decode()

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(eq=False, slots=True)
class LinuxMounts:
    volumes: Path
    kubelet_root: Path

    def is_published(self, target: str) -> bool:
        return _is_own(self._real(target))

    def prepare(self, volume_id: str) -> VolumeDirectory:
        directory = self._directory(volume_id)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(os.path.realpath(directory)):
            _mount_tmpfs(os.fspath(directory))
        self._make_secrets(directory)
        status = os.stat(directory)
        return VolumeDirectory(os.fspath(directory), status.st_dev, status.st_ino)

    def _make_secrets(self, directory: Path) -> None:
        """Make it with its final mode: a process of the pod may be root, and could put a link in its
        place before a chmod."""
        before = os.umask(0)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(directory / SECRETS, mode=0o1777)
        finally:
            os.umask(before)

    def publish(self, volume_id: str, target: str) -> None:
        real = self._real(target)
        with contextlib.suppress(FileExistsError):
            os.mkdir(real, mode=0o750)
        _mount(os.fspath(self._directory(volume_id)), real, "", _BIND, "")

    def unpublish(self, target: str) -> None:
        _remove(self._real(target))

    def discard(self, volume_id: str) -> None:
        _remove(os.path.realpath(self._directory(volume_id)))

    def _directory(self, volume_id: str) -> Path:
        return self.volumes / volume_id

    def _real(self, target: str) -> str:
        """The path as the mount table has it: only kubelet's root may be a link, and nothing below it."""
        below = os.path.relpath(target, self.kubelet_root)
        real = os.path.join(os.path.realpath(self.kubelet_root), below)
        if os.path.realpath(real) != real:
            raise OSError(errno.ELOOP, "there is a link in the target's path")
        return real


def _remove(path: str) -> None:
    for _ in range(_MOST_STACKED):
        if not _times(path):
            break
        # Lazily: a process that still uses it must not keep the pod from ending.
        if _libc.umount2(os.fsencode(path), _DETACH | _NOFOLLOW) and ctypes.get_errno() not in (
            errno.EINVAL,
            errno.ENOENT,
        ):
            raise _failure("umount", path)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(path)


def _times(path: str) -> int:
    with open("/proc/self/mountinfo", "rb") as table:
        return times_mounted(table, os.fsencode(path))


def _is_own(path: str) -> bool:
    with open("/proc/self/mountinfo", "rb") as table:
        return is_own(table, os.fsencode(path))


def _mount_tmpfs(path: str) -> None:
    flags = _NOSUID | _NODEV | _NOEXEC
    try:
        # Since Linux 6.4 the kernel can be asked not to write secrets to a swap disk.
        _mount(_SOURCE, path, _KIND, flags, f"{OWN_FILES},noswap")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        _mount(_SOURCE, path, _KIND, flags, OWN_FILES)


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    words = [os.fsencode(word) for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), options.encode()):
        raise _failure("mount", target)


def _failure(what: str, path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}", path)
