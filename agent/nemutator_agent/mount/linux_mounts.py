"""Directories and mounts of this machine, through mount(2) and umount2(2).

These calls need no thread: they touch memory and kubelet's own directories only, and none of them waits.
"""

import contextlib
import ctypes
import errno
import os
import stat
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from nemutator_agent.mount.mount_table import OWN_KIND, OWN_SOURCE, Mounted, seen_at
from nemutator_agent.mount.volume_data import LARGEST, VOLUME_DATA, is_anothers
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
    _: KW_ONLY
    kubelet_root: Path
    driver: str

    def is_published(self, volume_id: str, target: str) -> bool:
        return self._is_volume(volume_id, _seen(self._real(target)))

    def prepare(self, volume_id: str, target: str, *, group: int | None = None) -> VolumeDirectory:
        (self.volumes / volume_id).mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = self._directory(volume_id)
        if _own_at(directory) is None:
            real = self._real(target)
            if _own_at(real) is not None:
                # Somebody has unmounted the directory, and the pod still has what it showed.
                _mount(real, directory, "", _BIND, "")
            else:
                _mount_tmpfs(directory)
        self._make_secrets(directory)
        status = os.stat(directory)
        if group:
            self._give_secrets(directory, group, status.st_dev)
        return VolumeDirectory(os.fspath(self.volumes / volume_id), status.st_dev, status.st_ino)

    def _make_secrets(self, directory: str) -> None:
        """Make it with its final mode: a process of the pod may be root, and could put a link in its
        place before a chmod."""
        before = os.umask(0)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(os.path.join(directory, SECRETS), mode=0o1777)
        finally:
            os.umask(before)

    def _give_secrets(self, directory: str, group: int, device: int) -> None:
        """Let what is made in it be for *group*. It is held while that happens, and what a root process of the
        pod has put in its place is left alone, or lies in the same small file system."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            secrets = os.open(os.path.join(directory, SECRETS), flags)
        except OSError:
            return
        try:
            found = os.fstat(secrets)
            if found.st_dev == device and found.st_gid != group:
                os.fchown(secrets, -1, group)
                os.fchmod(secrets, 0o3777)
        finally:
            os.close(secrets)

    def publish(self, volume_id: str, target: str) -> None:
        real = self._real(target)
        self._refuse_anothers(volume_id, real)
        with contextlib.suppress(FileExistsError):
            os.mkdir(real, mode=0o750)
        _mount(self._directory(volume_id), real, "", _BIND, "")

    def unpublish(self, volume_id: str, target: str) -> None:
        real = self._real(target)
        self._refuse_anothers(volume_id, real)
        self._remove(volume_id, real)

    def discard(self, volume_id: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._remove(volume_id, self._directory(volume_id))

    def _remove(self, volume_id: str, path: str) -> None:
        for _ in range(_MOST_STACKED):
            seen = _seen(path)
            if seen is None:
                break
            if not self._is_volume(volume_id, seen):
                raise OSError(errno.EBUSY, "something else than this volume is mounted there", path)
            _unmount(path)
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(path)

    def _refuse_anothers(self, volume_id: str, real: str) -> None:
        """What is mounted already, and what kubelet has noted beside the target, must not speak against it."""
        seen = _seen(real)
        if seen is not None and not self._is_volume(volume_id, seen):
            raise OSError(errno.EBUSY, "something else than this volume is mounted there", real)
        note = os.path.join(os.path.dirname(real), VOLUME_DATA)
        try:
            with open(note, "rb") as file:
                content = file.read(LARGEST)
        except FileNotFoundError:
            return
        if is_anothers(content, self.driver, volume_id):
            raise OSError(errno.EPERM, "kubelet has noted another driver's volume", note)

    def _is_volume(self, volume_id: str, seen: Mounted | None) -> bool:
        """Whether *seen* is this volume's file system, as far as its directory still shows it."""
        if seen is None or not seen.is_own:
            return False
        try:
            own = _own_at(self._directory(volume_id))
        except FileNotFoundError:
            own = None
        return own is None or own.device == seen.device

    def _directory(self, volume_id: str) -> str:
        """The volume's directory, which is there and no link: what is mounted there lies nowhere else."""
        directory = os.path.join(os.path.realpath(self.volumes), volume_id)
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            raise OSError(errno.ENOTDIR, "the volume's directory is something else", directory)
        return directory

    def _real(self, target: str) -> str:
        """The path as the mount table has it: only kubelet's root may be a link, and nothing below it."""
        below = os.path.relpath(target, self.kubelet_root)
        real = os.path.join(os.path.realpath(self.kubelet_root), below)
        if os.path.realpath(real) != real:
            raise OSError(errno.ELOOP, "there is a link in the target's path")
        return real


def _unmount(path: str) -> None:
    # Lazily: a process that still uses it must not keep the pod from ending.
    if _libc.umount2(os.fsencode(path), _DETACH | _NOFOLLOW) and ctypes.get_errno() not in (
        errno.EINVAL,
        errno.ENOENT,
    ):
        raise _failure("umount", path)


def _seen(path: str) -> Mounted | None:
    with open("/proc/self/mountinfo", "rb") as table:
        return seen_at(table, os.fsencode(path))


def _own_at(path: str) -> Mounted | None:
    seen = _seen(path)
    return seen if seen is not None and seen.is_own else None


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
