"""Go's own table of functions, files and lines, which no stripping removes (runtime/symtab.go).

All layouts since Go 1.18 are read; older ones are refused by their name. The header holds offsets of
five tables: names, compilation units, files, values by address, and functions. Positions here are
those in the file.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nemutator_agent.inspection.elf import Segment
from nemutator_agent.profiler.symbols.image import (
    EXECUTABLE,
    READABLE,
    DamagedError,
    Image,
)
from nemutator_agent.profiler.symbols.value_table import ValueTable

SECTIONS = (b".gopclntab", b".data.rel.ro.gopclntab")
SIGNS_OF_GO = (b".go.buildinfo", b".note.go.buildid", b".go.module")
"""Sections of a Go program whose table has no section of its own: linked by gcc, 1.25 or older."""

LARGEST_SEARCH = 128 << 20
MOST_FUNCTIONS = 1 << 20
"""kubelet has 67 thousand functions."""

_MOST_TABLES = 32
"""The most tables of values, and of data, for one function. Go has a dozen."""

_TOO_OLD = {0xFFFFFFFB: "Go 1.15 or older", 0xFFFFFFFA: "Go 1.16 or 1.17"}
_GO_118, _GO_120 = 0xFFFFFFF0, 0xFFFFFFF1

_HEAD = struct.Struct("<IHBB8Q")
_ROW = struct.Struct("<II")
_ADDRESS = struct.Struct("<I")
_FUNCTION = {_GO_118: struct.Struct("<IiiIIIIIIBBBB"), _GO_120: struct.Struct("<IiiIIIIIIiBBBB")}
_NOWHERE = 0xFFFFFFFF
_HIT_EFFORT = 200

MOST_DECODED = 8
LONGEST_DECODED = 1 << 14
"""Tables of values that are kept, and the most values in one of them."""


class NoGoTableError(Exception):
    """There is no table: as far as can be seen, this was not built by Go."""


class TooOldError(Exception):
    """Built by a Go whose tables we do not read; the message names it."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function, as the table has it."""

    entry: int
    """Counted from the beginning of the text, as all places in it are."""
    name: int
    start_line: int
    kind: int
    """What the runtime knows the function as; 0 is nothing special, the others change with versions."""
    unit: int
    depths: int
    """Tables of values by address, 0 when there is none: of the stack's depth, the file, the line,
    the place in the tree of what was inlined."""
    files: int
    lines: int
    inlined: int
    tree: int | None
    """Counted from the data of all functions."""


@dataclass(frozen=True, slots=True)
class GoTable:
    """Found and checked; functions are read as they are asked for."""

    image: Image
    position: int
    version: int
    quantum: int
    count: int
    text: int
    """The first address of the code in the header; 0 since Go 1.26, which keeps it elsewhere."""
    names: int
    units: int
    files: int
    values: int
    functions: int
    rows: Sequence[int]
    """Of each function where it begins in the text, and where it is described; then the end of the text."""
    decoded: dict[int, ValueTable] = field(default_factory=dict)

    @property
    def address(self) -> int | None:
        return self.image.address_of(self.position)

    @property
    def names_size(self) -> int:
        return self.units - self.names

    @property
    def newer(self) -> bool:
        """Go 1.20 or newer, which knows the first lines of functions and has smaller nodes."""
        return self.version == _GO_120

    @property
    def size_of_text(self) -> int:
        return self.rows[2 * self.count]

    def function_at(self, place: int) -> Function | None:
        """The function around a place in the text."""
        number = self._number_at(place)
        return None if number is None else self.function(number)

    def function_named(self, name: str) -> Function | None:
        """The function of that whole name. Every function holds the place of its name, so both are
        found by a search for bytes: to read all functions would take a hundred times as long."""
        for found in self.image.occurrences(b"\0" + name.encode() + b"\0", self.names, self.units):
            wanted = found + 1 - self.names
            for at in self.image.occurrences(
                struct.pack("<i", wanted), self.functions, self._end_of_functions()
            ):
                self.image.effort.spend(_HIT_EFFORT)
                function = self._function_with_name_at(at)
                if function is not None and function.name == wanted:
                    return function
        return None

    def end_of(self, function: Function) -> int:
        """The first place after the code of *function*."""
        number = self._number_at(function.entry)
        if number is None:
            raise DamagedError("a function is not where the table says it is")
        return self.rows[2 * (number + 1)]

    def function(self, number: int) -> Function:
        entry, offset = self.rows[2 * number : 2 * number + 2]
        layout = _FUNCTION[self.version]
        at = self.functions + offset
        start, name, _, _, depths, files, lines, tables, unit, *rest = self.image.unpacked(
            layout, at
        )
        start_line = rest[0] if self.newer else 0
        kind, _, _, kinds = rest[-4:]
        if start != entry or tables > _MOST_TABLES or kinds > _MOST_TABLES:
            raise DamagedError("a function is not where the table says it is")
        at += layout.size
        more = self.image.unpacked(struct.Struct(f"<{tables + kinds}I"), at)
        tree = more[tables + 3] if kinds > 3 else _NOWHERE
        return Function(
            entry=entry,
            name=name,
            start_line=max(start_line, 0),
            kind=kind,
            unit=unit,
            depths=depths,
            files=files,
            lines=lines,
            inlined=more[2] if tables > 2 else 0,
            tree=None if tree == _NOWHERE else tree,
        )

    def name(self, offset: int) -> str:
        """The name as the runtime prints it: type arguments, which can be long, are left out."""
        if not 0 <= offset < self.names_size:
            raise DamagedError("a name lies outside of the names")
        name = self.image.text(self.names + offset)
        begin, end = name.find("["), name.rfind("]")
        return f"{name[:begin]}[...]{name[end + 1 :]}" if 0 <= begin < end else name

    def file_and_line(self, function: Function, place: int) -> tuple[str, int]:
        distance = place - function.entry
        line = self.value(function.lines, distance)
        file = self.value(function.files, distance)
        if file < 0:
            return "", max(line, 0)
        (offset,) = self.image.unpacked(_ADDRESS, self.units + 4 * (function.unit + file))
        if offset == _NOWHERE:
            return "", max(line, 0)
        return self.image.text(self.files + offset), max(line, 0)

    def value(self, table: int, distance: int) -> int:
        """The value that holds at a distance from the entry; -1 where there is none."""
        if table == 0:
            return -1
        # What is asked comes in the order of its addresses: many are of the same function.
        values = self.decoded.pop(table, None)
        if values is None:
            values = ValueTable(self.image, self.values + table, quantum=self.quantum)
            if len(self.decoded) >= MOST_DECODED:
                del self.decoded[next(iter(self.decoded))]
        found = values.value(distance)
        if len(values) <= LONGEST_DECODED:
            self.decoded[table] = values
        return found

    def _number_at(self, place: int) -> int | None:
        number = bisect_right(self.rows[::2], place, 0, self.count) - 1
        return number if number >= 0 and place < self.size_of_text else None

    def _function_with_name_at(self, position: int) -> Function | None:
        """What lies there may be any number that is equal by chance."""
        try:
            (entry,) = self.image.unpacked(_ADDRESS, position - _ADDRESS.size)
            function = self.function_at(entry)
        except DamagedError:
            return None
        return function if function is not None and function.entry == entry else None

    def _end_of_functions(self) -> int:
        for segment in self.image.loaded:
            if 0 <= self.functions - segment.offset < segment.size:
                end = segment.offset + segment.size
                return min(end, self.functions + LARGEST_SEARCH)
        return self.functions


def find(image: Image) -> GoTable:
    """Raises NoGoTableError, TooOldError."""
    if image.elf.word != 8 or image.elf.order != "<":
        raise NoGoTableError
    for position in _candidates(image):
        try:
            return _table(image, position)
        except DamagedError:
            continue
    raise NoGoTableError


def _candidates(image: Image) -> Iterator[int]:
    elf = image.elf
    for name in SECTIONS:
        if (section := elf.section(name)) is not None:
            yield section.offset
    if elf.sections and not any(elf.section(name) for name in SIGNS_OF_GO):
        return
    segments = tuple(one for one in image.loaded if _holds_data(one))
    # The last bytes of the magic, which all versions share, two zeros, the quantum, a pointer's size.
    for quantum in (1, 4):
        sign = bytes([0xFF, 0xFF, 0xFF, 0, 0, quantum, 8])
        for found in image.search(sign, segments, most=LARGEST_SEARCH):
            address = image.address_of(found - 1)
            if address is not None and address % 8 == 0:
                yield found - 1


def _holds_data(segment: Segment) -> bool:
    return bool(segment.flags & READABLE) and not segment.flags & EXECUTABLE


def _table(image: Image, position: int) -> GoTable:
    magic, zeros, quantum, word, count, _, *rest = image.unpacked(_HEAD, position)
    if magic in _TOO_OLD and not zeros and quantum in (1, 2, 4) and word in (4, 8):
        raise TooOldError(_TOO_OLD[magic])
    if magic not in _FUNCTION or zeros or quantum not in (1, 4) or word != 8:
        raise DamagedError("expected the head of a table")
    text, names, units, files, values, functions = rest
    ordered = 0 < names < units <= files <= values <= functions < 1 << 40
    if not ordered or not 0 < count <= MOST_FUNCTIONS:
        raise DamagedError("expected offsets that rise")
    table = GoTable(
        image=image,
        position=position,
        version=magic,
        quantum=quantum,
        count=count,
        text=text,
        names=position + names,
        units=position + units,
        files=position + files,
        values=position + values,
        functions=position + functions,
        rows=_rows(image, position + functions, count),
    )
    first = table.function(0)
    table.name(first.name)
    if table.size_of_text <= first.entry:
        raise DamagedError("expected code")
    return table


def _rows(image: Image, position: int, count: int) -> Sequence[int]:
    size = _ROW.size * count + _ADDRESS.size
    raw = image.content(position, size)
    if len(raw) < size:
        raise DamagedError("a table reaches beyond the end of the file")
    # In the file's order of bytes, which is that of all processors that there are agents for.
    return memoryview(raw).cast("I")
