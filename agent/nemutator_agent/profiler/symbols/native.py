"""Functions of C and the like: the nearest symbol of an ELF file, when the address is inside of it.

Symbols without a size name nothing: the nearest of them would claim everything up to the next one,
which in a mixed program is above all Go's code.
"""

import struct
from collections.abc import Iterator, Sequence

from nemutator_common.profiles.model import Frame

from nemutator_agent.profiler.symbols.demangled.names import demangled
from nemutator_agent.profiler.symbols.image import DamagedError, Image
from nemutator_agent.profiler.symbols.nearest import Nearest

_TABLES = ((b".symtab", b".strtab"), (b".dynsym", b".dynstr"))
_WIDE, _NARROW = "IBBHQQ", "IIIBBH"
_FUNCTION, _INDIRECT = 2, 10
"""STT_FUNC, STT_GNU_IFUNC."""

_NO_BITS = 8
"""SHT_NOBITS: a debug file only says where the table of its file was."""

MOST_SYMBOLS = 4_000_000
"""Chromium with all of its symbols has a million."""

_CHUNK = 4096


def functions(image: Image, addresses: Sequence[int]) -> dict[int, Frame]:
    """A frame for each address that lies in a function; *addresses* are sorted, each once."""
    named: dict[int, Frame] = {}
    for symbols, strings in _TABLES:
        wanted = [address for address in addresses if address not in named]
        named |= _named(image, symbols, strings, wanted)
    return named


def ranges(image: Image, addresses: Sequence[int]) -> dict[int, tuple[int, int]]:
    """For each address that lies in a function, where that begins, and the first address after it."""
    found: dict[int, tuple[int, int]] = {}
    for symbols, _ in _TABLES:
        wanted = [address for address in addresses if address not in found]
        for address, _, start, end in _around(image, symbols, wanted):
            found[address] = start, end
    return found


def _named(image: Image, symbols: bytes, strings: bytes, wanted: list[int]) -> dict[int, Frame]:
    texts = image.elf.section(strings)
    if texts is None:
        return {}
    named: dict[int, Frame] = {}
    frames: dict[int, Frame | None] = {}
    for address, name, _, _ in _around(image, symbols, wanted):
        if name < texts.size:
            if name not in frames:
                frames[name] = _frame(image, texts.offset + name)
            frame = frames[name]
            if frame is not None:
                named[address] = frame
    return named


def _frame(image: Image, offset: int) -> Frame | None:
    try:
        text = image.text(offset)
    except DamagedError:
        return None
    return Frame(demangled(text, image.effort.spend), kind="native") if text else None


def _around(image: Image, table: bytes, wanted: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Each of the addresses *wanted* that lies in a function, with that one's name, begin and end."""
    if not wanted:
        return
    nearest: Nearest[int, tuple[int, int]] = Nearest(wanted)
    for name, start, size in _functions(image, table):
        nearest.offer(start, (size, name))
    for address, found in zip(wanted, nearest.found(), strict=True):
        if found is not None:
            start, (size, name) = found
            if address < start + size:
                yield address, name, start, start + size


def _functions(image: Image, table: bytes) -> Iterator[tuple[int, int, int]]:
    """Name, address and size of each function."""
    section = image.elf.section(table)
    if section is None or section.kind == _NO_BITS:
        return
    wide = image.elf.word == 8
    layout = struct.Struct(image.elf.order + (_WIDE if wide else _NARROW))
    left = min(section.size // layout.size, MOST_SYMBOLS)
    offset = section.offset
    while left > 0:
        raw = image.read(offset, min(left, _CHUNK) * layout.size)
        whole = len(raw) // layout.size
        if whole == 0:
            return
        image.effort.spend(whole)
        for row in layout.iter_unpack(raw[: whole * layout.size]):
            if wide:
                name, info, _, where, start, size = row
            else:
                name, start, size, info, _, where = row
            # A symbol of section 0 is defined in another file.
            if info & 0xF in (_FUNCTION, _INDIRECT) and where and size:
                yield name, start, size
        left -= whole
        offset += whole * layout.size
