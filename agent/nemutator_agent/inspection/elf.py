"""Just enough of ELF (elf(5)): sections by name, segments by address, and the needed libraries.

The file is a stranger's and may lie in every field. Each table has a cap, each string a length,
every read goes through a budget, and no loop trusts the file alone.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_agent.inspection.bounded_file import BoundedFile

MAGIC = b"\x7fELF"

LARGEST_SECTIONS = 1024
LARGEST_SEGMENTS = 128
LARGEST_DYNAMIC = 1024
"""Linkers write 20 to 40 of each; the sections per function of debug builds end at linking."""

_LARGEST_NAMES = 64 << 10
_LONGEST_LIBRARY = 128

_PT_LOAD, _PT_DYNAMIC = 1, 2
_PF_W = 2
_SHT_NOBITS = 8
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5


@dataclass(frozen=True, slots=True)
class Segment:
    kind: int
    flags: int
    offset: int
    address: int
    size: int
    """Its size in the file."""

    @property
    def writable_data(self) -> bool:
        return self.kind == _PT_LOAD and bool(self.flags & _PF_W)


@dataclass(frozen=True, slots=True)
class Section:
    name: bytes
    kind: int
    offset: int
    size: int


class NotElfError(ValueError):
    """This is no ELF file, or its header cannot be true."""


class Elf:
    """One executable. Its tables are read at once."""

    def __init__(self, file: BoundedFile) -> None:
        self._file = file
        ident = file.read(0, 64)
        if (
            len(ident) < 52
            or ident[:4] != MAGIC
            or ident[4] not in (1, 2)
            or ident[5] not in (1, 2)
        ):
            raise NotElfError
        self.order = "<" if ident[5] == 1 else ">"
        self.word = 4 if ident[4] == 1 else 8
        self._word_format = self.order + ("I" if self.word == 4 else "Q")
        head = struct.Struct(
            self.order + ("16xHHIIIIIHHHHHH" if self.word == 4 else "16xHHIQQQIHHHHHH")
        )
        if len(ident) < head.size:
            raise NotElfError
        (_, _, _, _, phoff, shoff, _, _, phentsize, phnum, shentsize, shnum, shstrndx) = (
            head.unpack_from(ident)
        )
        self.segments = tuple(self._segments(phoff, phentsize, phnum))
        self.sections = tuple(self._sections(shoff, shentsize, shnum, shstrndx))

    def section(self, name: bytes) -> Section | None:
        return next((one for one in self.sections if one.name == name), None)

    def at_address(self, address: int, size: int) -> bytes:
        """The bytes at a virtual address; none when no segment holds it."""
        for segment in self.segments:
            inside = address - segment.address
            if segment.kind == _PT_LOAD and 0 <= inside < segment.size:
                return self._file.read(segment.offset + inside, min(size, segment.size - inside))
        return b""

    def pointer(self, raw: bytes, position: int) -> int | None:
        """The address that stands at *position* of *raw*."""
        if position + self.word > len(raw):
            return None
        (value,) = struct.unpack_from(self._word_format, raw, position)
        return int(value)

    def needed(self) -> Iterator[bytes]:
        """The names of the libraries that it is linked to."""
        dynamic = next((one for one in self.segments if one.kind == _PT_DYNAMIC), None)
        if dynamic is None:
            return
        entry = 2 * self.word
        raw = self._file.read(dynamic.offset, min(dynamic.size, LARGEST_DYNAMIC * entry))
        names: list[int] = []
        strings = None
        for tag, value in struct.iter_unpack(
            self.order + self._word_format[1:] * 2, raw[: len(raw) // entry * entry]
        ):
            if tag == _DT_NULL:
                break
            if tag == _DT_NEEDED:
                names.append(value)
            elif tag == _DT_STRTAB:
                strings = value
        if strings is None:
            return
        for name in names:
            library, end, _ = self.at_address(strings + name, _LONGEST_LIBRARY).partition(b"\0")
            if end:
                yield library

    def _segments(self, offset: int, size: int, count: int) -> Iterator[Segment]:
        layout = struct.Struct(self.order + ("IIIIIIII" if self.word == 4 else "IIQQQQQQ"))
        for raw in self._table(offset, size, min(count, LARGEST_SEGMENTS), layout.size):
            if self.word == 4:
                kind, start, address, _, held, _, flags, _ = layout.unpack(raw)
            else:
                kind, flags, start, address, _, held, _, _ = layout.unpack(raw)
            yield Segment(kind, flags, start, address, held)

    def _sections(self, offset: int, size: int, count: int, names_at: int) -> Iterator[Section]:
        layout = struct.Struct(self.order + ("IIIIIIIIII" if self.word == 4 else "IIQQQQIIQQ"))
        table = self._table(offset, size, min(count, LARGEST_SECTIONS), layout.size)
        entries = [layout.unpack(raw) for raw in table]
        if names_at >= len(entries):
            return
        names = self._file.read(entries[names_at][4], min(entries[names_at][5], _LARGEST_NAMES))
        for name, kind, _, _, start, held, *_ in entries:
            end = names.find(b"\0", name, name + 64)
            if end >= 0 and kind != _SHT_NOBITS:
                yield Section(names[name:end], kind, start, held)

    def _table(self, offset: int, size: int, count: int, entry: int) -> Iterator[bytes]:
        """The entries of a table, which may be longer than the fields that we know."""
        if size < entry or size > 4 * entry:
            return
        raw = self._file.read(offset, size * count) if offset else b""
        for start in range(0, len(raw) - size + 1, size):
            yield raw[start : start + entry]
