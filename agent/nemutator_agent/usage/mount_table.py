"""The file systems of a machine that lie on disks, from /proc/PID/mountinfo."""

import re
from typing import NamedTuple

MOST = 64
_IMAGES = frozenset({"squashfs", "iso9660", "erofs", "cramfs", "udf"})
"""They are always full, and nobody writes to them."""
_OCTAL = re.compile(rb"\\([0-7]{3})")


class MountedDisk(NamedTuple):
    path: str
    device: str
    kind: str


def mounted_disks(mountinfo: bytes) -> tuple[MountedDisk, ...]:
    """Each device once, where it is mounted nearest to the root; at most `MOST`.

    A file system of a program (FUSE) or of another machine is left out: who asks it may wait for ever.
    """
    found: dict[str, MountedDisk] = {}
    for line in mountinfo.splitlines():
        fields, dash, source = line.partition(b" - ")
        values, mounted = fields.split(b" "), source.split(b" ")
        if not dash or len(values) < 6 or len(mounted) < 2:
            continue
        kind, device = mounted[0].decode("ascii", "replace"), _text(mounted[1])
        if not device.startswith("/dev/") or kind in _IMAGES or kind.startswith("fuse"):
            continue
        one = MountedDisk(_text(values[4]), device, kind)
        known = found.get(device)
        if known is None or len(one.path) < len(known.path):
            found[device] = one
    return tuple(sorted(found.values()))[:MOST]


def _text(raw: bytes) -> str:
    plain = _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), raw)
    return plain.decode("utf-8", "surrogateescape")
