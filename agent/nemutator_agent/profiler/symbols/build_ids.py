"""The id that a linker gave a file, by which symbol servers and `go tool pprof` find it."""

import struct
from itertools import islice

from nemutator_agent.profiler.symbols.image import Image

LONGEST = 64
"""In bytes. Linkers write 20 (SHA-1), 16 (MD5) or 8 (xxHash)."""

_LARGEST_NOTES = 4096
_MOST_SEGMENTS = 8

_SECTION = b".note.gnu.build-id"
"""Go's linker puts it into no segment of notes."""
_PT_NOTE = 4
_HEAD = "III"
_BUILD_ID = 3
"""NT_GNU_BUILD_ID."""


def build_id(image: Image) -> str:
    """The id in hexadecimal digits, empty when there is none. Go's own build id is another one."""
    section = image.elf.section(_SECTION)
    places = [] if section is None else [(section.offset, section.size)]
    notes = (one for one in image.elf.segments if one.kind == _PT_NOTE)
    places += [(one.offset, one.size) for one in islice(notes, _MOST_SEGMENTS)]
    for offset, size in places:
        found = _in(image.read(offset, min(size, _LARGEST_NOTES)), image.elf.order)
        if found:
            return found
    return ""


def _in(notes: bytes, order: str) -> str:
    head = struct.Struct(order + _HEAD)
    at = 0
    while at + head.size <= len(notes):
        name_size, size, kind = head.unpack_from(notes, at)
        name_at = at + head.size
        content_at = name_at + _aligned(name_size)
        name = notes[name_at : name_at + name_size]
        content = notes[content_at : content_at + size]
        if (name, kind) == (b"GNU\0", _BUILD_ID) and 0 < size <= LONGEST:
            return content.hex() if len(content) == size else ""
        at = content_at + _aligned(size)
    return ""


def _aligned(size: int) -> int:
    return (size + 3) & ~3
