"""/proc/self/mountinfo, read line by line: on nodes with thousands of mounts it has megabytes.

A bind mount within one file system has its parent's device, so only this table shows it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

OWN_SOURCE = b"nemutator"
OWN_KIND = b"tmpfs"

_OCTAL = re.compile(rb"\\([0-7]{3})")
_DEVICE = 2
_MOUNT_POINT = 4


@dataclass(frozen=True, slots=True)
class Mounted:
    """A file system that is mounted somewhere."""

    kind: bytes
    source: bytes
    device: bytes
    """Its number: two mounts with the same one show the same file system."""

    @property
    def is_own(self) -> bool:
        return (self.kind, self.source) == (OWN_KIND, OWN_SOURCE)


def seen_at(lines: Iterable[bytes], path: bytes) -> Mounted | None:
    """What is mounted on *path* itself: of several, the one that was mounted last."""
    last = next(iter(deque(_mounted_on(lines, path), maxlen=1)), None)
    if last is None:
        return None
    kind, source = (*last.rpartition(b" - ")[2].split(b" "), b"", b"")[:2]
    return Mounted(kind, source, last.split(b" ", _DEVICE + 1)[_DEVICE])


def _mounted_on(lines: Iterable[bytes], path: bytes) -> Iterator[bytes]:
    # This rules out most lines: the table escapes only these four characters.
    plain = not set(b" \t\n\\") & set(path)
    return (line for line in lines if (not plain or path in line) and _mount_point(line) == path)


def _mount_point(line: bytes) -> bytes:
    parts = line.split(b" ", _MOUNT_POINT + 1)
    if len(parts) <= _MOUNT_POINT:
        return b""
    return _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), parts[_MOUNT_POINT])
