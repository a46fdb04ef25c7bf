"""Files of /proc and of control groups, opened once and read again.

Reading through an open descriptor saves the walk along the path at each snapshot. Above all it is
safe: the descriptor of a dead process or a removed group answers with an error for ever, and never for
another one that got the same number or name.
"""

import errno
import os

LARGEST = 64 << 10
"""The limit of one read. In /proc/stat of 256 CPUs what we need comes after 25 KB; other files are
smaller."""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class CachedFiles:
    """Descriptors by path, at most *most* of them; `sweep` closes those that nobody read lately."""

    def __init__(self, *, most: int) -> None:
        self.most = most
        self._files: dict[str, int] = {}
        self._inodes: dict[str, int] = {}
        self._read: set[str] = set()
        self.refused = 0
        """The number of reads since the last sweep that found no descriptor left."""

    def __len__(self) -> int:
        return len(self._files)

    def read(self, path: str) -> bytes | None:
        """The content of *path* now; None when it is gone, was never there or may not be read.

        A file whose descriptor answers no more is opened again: the name may have a new owner.
        """
        # A snapshot comes here a thousand times: the way of a file that is open has no call but the kernel's.
        file = self._files.get(path)
        if file is not None:
            try:
                content = os.pread(file, LARGEST, 0)
            except OSError:
                self._close(path)
            else:
                self._read.add(path)
                return content
        if len(self._files) >= self.most:
            self.refused += 1
            return None
        try:
            self._files[path] = os.open(path, _FLAGS)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self.refused += 1
            return None
        return self._reread(path)

    def inode(self, path: str) -> int | None:
        """The inode of the file that is open for *path*."""
        if path not in self._files:
            return None
        if path not in self._inodes:
            self._inodes[path] = os.fstat(self._files[path]).st_ino
        return self._inodes[path]

    def sweep(self) -> None:
        """Close what was not read since the last sweep."""
        for path in self._files.keys() - self._read:
            self._close(path)
        self._read.clear()
        self.refused = 0

    def read_or_open(self, path: str) -> bytes | None:
        """The same, but where no descriptor is left the file is opened for this reading alone."""
        if path in self._files or len(self._files) < self.most:
            return self.read(path)
        return read_once(path)

    def close(self) -> None:
        for path in tuple(self._files):
            self._close(path)

    def _reread(self, path: str) -> bytes | None:
        content = _pread(self._files[path])
        if content is None:
            self._close(path)
        else:
            self._read.add(path)
        return content

    def _close(self, path: str) -> None:
        os.close(self._files.pop(path))
        self._read.discard(path)
        self._inodes.pop(path, None)


def _pread(file: int) -> bytes | None:
    try:
        return os.pread(file, LARGEST, 0)
    except OSError:
        return None


def read_once(path: str) -> bytes | None:
    """The content of *path*; None as in `CachedFiles.read`."""
    try:
        file = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        return _pread(file)
    finally:
        os.close(file)
