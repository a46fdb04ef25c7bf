"""Where the runtime keeps what its table does not say: the code's first address, and the data that
belongs to functions (moduledata in runtime/symtab.go).

The structure grows nearly every year, always behind the words that we rely on. The one word that
has moved is found by trying: what it points to must look like what we want from it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_agent.profiler.symbols.image import WRITABLE, DamagedError, Image
from nemutator_agent.profiler.symbols.pclntab import GoTable

SECTION = b".go.module"
"""Since Go 1.26."""

LARGEST_SEARCH = 64 << 20

_WORDS = struct.Struct("<48Q")
_TABLE, _NAMES, _UNITS, _FILES, _COUNT, _TEXT = 0, 1, 4, 7, 17, 22
_CANDIDATES = range(32, 48)
"""38 in Go 1.18 and 1.19, 40 until 1.26, 43 in 1.27."""

_TRIED = 200
"""How many functions with inlined calls a candidate is tried with."""
_LOOKED_AT = 4000
"""How many functions are searched for them."""
_ENOUGH = 0.95
"""The true candidate scored 1.00 in all of sixty programs, the best of the others 0.34."""

NODE_118 = struct.Struct("<hBBiiii")
"""Parent, id, padding, file, line, name, place of the call."""
NODE_120 = struct.Struct("<BBBBiii")
"""Id, padding, name, place of the call, line where the function begins."""


@dataclass(frozen=True, slots=True)
class Module:
    text: int
    """First address of the code."""
    data: int | None
    """Position in the file of the data of all functions; None when no candidate convinces."""


def find(image: Image, table: GoTable) -> Module | None:
    """None when no candidate agrees with the table in every word that they share."""
    address = table.address
    if address is None:
        return None
    # Position-independent programs hold the same words: the linker fills them in, too.
    expected = {
        _TABLE: address,
        _NAMES: address + table.names - table.position,
        _UNITS: address + table.units - table.position,
        _FILES: address + table.files - table.position,
    }
    for position in _candidates(image, address):
        try:
            words = image.unpacked(_WORDS, position)
        except DamagedError:
            continue
        agree = all(words[place] == value for place, value in expected.items())
        if agree and words[_COUNT] in (table.count, table.count + 1):
            return Module(words[_TEXT], _data(image, table, words))
    return None


def _candidates(image: Image, address: int) -> Iterator[int]:
    if (section := image.elf.section(SECTION)) is not None:
        yield section.offset
    writable = tuple(one for one in image.loaded if one.flags & WRITABLE)
    for found in image.search(struct.pack("<Q", address), writable, most=LARGEST_SEARCH):
        place = image.address_of(found)
        if place is not None and place % 8 == 0:
            yield found


def _data(image: Image, table: GoTable, words: tuple[int, ...]) -> int | None:
    trees = _trees(table)
    if not trees:
        return None
    best, score = None, _ENOUGH
    for place in _CANDIDATES:
        try:
            base = image.offset_of(words[place])
        except DamagedError:
            continue
        good = sum(_is_node(image, table, base + tree) for tree in trees) / len(trees)
        if good >= score:
            best, score = base, good
    return best


def _trees(table: GoTable) -> list[int]:
    trees = []
    for number in range(min(table.count, _LOOKED_AT)):
        tree = table.function(number).tree
        if tree is not None:
            trees.append(tree)
            if len(trees) == _TRIED:
                break
    return trees


def _is_node(image: Image, table: GoTable, position: int) -> bool:
    try:
        node = image.unpacked(NODE_120 if table.newer else NODE_118, position)
    except DamagedError:
        return False
    if table.newer:
        _, *padding, name, call, line = node
    else:
        _, _, *padding, _, line, name, call = node
    # In a position-independent program of arm64 what the loader fills in is zero.
    if not any(node) or any(padding) or call < 0 or line < 0 or not 0 <= name < table.names_size:
        return False
    return name == 0 or image.read(table.names + name - 1, 1) == b"\0"
