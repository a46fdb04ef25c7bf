"""/proc/self/mountinfo, read line by line: on nodes with thousands of mounts it has megabytes.

A bind mount within one file system has its parent's device, so only this table shows it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator

OWN_SOURCE = b"nemutator"
OWN_KIND = b"tmpfs"

_OCTAL = re.compile(rb"\\([0-7]{3})")
_MOUNT_POINT = 4


def times_mounted(lines: Iterable[bytes], path: bytes) -> int:
    """How many mounts lie on *path* itself, one over the other."""
    return sum(1 for _ in _mounted_on(lines, path))


def is_own(lines: Iterable[bytes], path: bytes) -> bool:
    """Whether the file system that is seen at *path*, the last one mounted there, is ours."""
    last = next(iter(deque(_mounted_on(lines, path), maxlen=1)), b"")
    kind, source = (*last.rpartition(b" - ")[2].split(b" "), b"", b"")[:2]
    return (kind, source) == (OWN_KIND, OWN_SOURCE)


def _mounted_on(lines: Iterable[bytes], path: bytes) -> Iterator[bytes]:
    # This rules out most lines: the table escapes only these four characters.
    plain = not set(b" \t\n\\") & set(path)
    return (line for line in lines if (not plain or path in line) and _mount_point(line) == path)


def _mount_point(line: bytes) -> bytes:
    parts = line.split(b" ", _MOUNT_POINT + 1)
    if len(parts) <= _MOUNT_POINT:
        return b""
    return _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), parts[_MOUNT_POINT])
