"""The version of Go that built a file, from the record that the linker leaves for `go version`.

It begins with a magic on a 16-byte boundary. Since Go 1.18 (flag 2) the version follows as a
length and text; before, two pointers lead to string headers. Where the section table was removed,
the record is searched for in the writable segments: in a position-independent program it may come
after the relocated read-only data, so the search goes far. Go's own tool gave it up in 1.27.
"""

from nemutator_agent.inspection.bounded_file import BoundedFile
from nemutator_agent.inspection.elf import Elf

SECTION = b".go.buildinfo"
MAGIC = b"\xff Go buildinf:"
ALIGNMENT = 16

LARGEST_SEARCH = 16 << 20
_STEP = 256 << 10
_LONGEST_VERSION = 128
_HEAD = 32
_FLAG_BIG_ENDIAN, _FLAG_INLINE = 1, 2


def go_version(elf: Elf, file: BoundedFile) -> str | None:
    """The version as Go writes it, `go1.26.8`; None where Go did not build the file, or it hides it."""
    position = _blob(elf, file)
    if position is None:
        return None
    raw = file.read(position, _HEAD + 10 + _LONGEST_VERSION)
    if len(raw) < _HEAD:
        return None
    version = _inline(raw) if raw[15] & _FLAG_INLINE else _pointed(elf, raw)
    if version is None or not version.startswith((b"go1", b"devel ")):
        return None
    return version.decode("ascii", "replace")


def _blob(elf: Elf, file: BoundedFile) -> int | None:
    if elf.sections:
        section = elf.section(SECTION)
        return None if section is None else _search(file, section.offset, min(section.size, _STEP))
    left = LARGEST_SEARCH
    for segment in elf.segments:
        if segment.writable_data and left > 0:
            size = min(segment.size, left)
            left -= size
            found = _search(file, segment.offset, size)
            if found is not None:
                return found
    return None


def _search(file: BoundedFile, offset: int, size: int) -> int | None:
    """The position of the magic on its boundary. Steps overlap by its longest beginning."""
    end = offset + size
    while offset < end:
        raw = file.read(offset, min(_STEP, end - offset))
        found = raw.find(MAGIC)
        while found >= 0:
            if (offset + found) % ALIGNMENT == 0:
                return offset + found
            found = raw.find(MAGIC, found + 1)
        if len(raw) < _STEP:
            return None
        offset += _STEP - ALIGNMENT
    return None


def _inline(raw: bytes) -> bytes | None:
    length, shift = 0, 0
    # A length that takes more than two bytes is longer than any version.
    for position, byte in enumerate(raw[_HEAD : _HEAD + 2], start=_HEAD + 1):
        length |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            text = raw[position : position + length]
            return text if 0 < length <= _LONGEST_VERSION and len(text) == length else None
    return None


def _pointed(elf: Elf, raw: bytes) -> bytes | None:
    """Go 1.13 to 1.17. Byte order and pointer size stand in two places, which must agree."""
    big = bool(raw[15] & _FLAG_BIG_ENDIAN)
    if raw[14] != elf.word or big != (elf.order == ">"):
        return None
    header_at = elf.pointer(raw, 16)
    header = b"" if header_at is None else elf.at_address(header_at, 2 * elf.word)
    text_at, length = elf.pointer(header, 0), elf.pointer(header, elf.word)
    if text_at is None or length is None or not 0 < length <= _LONGEST_VERSION:
        return None
    text = elf.at_address(text_at, length)
    return text if len(text) == length else None
