"""An executable as a place to read from: bounded, block by block, nothing taken on trust.

What was read last is kept in a few blocks, for the next question about the file. Each question may
cost a certain effort.
"""

import struct
from collections import OrderedDict
from collections.abc import Iterator

from nemutator_agent.inspection.bounded_file import BoundedFile, ReadAt, TooMuchError
from nemutator_agent.inspection.elf import Elf, Segment

BLOCK = 64 << 10
MOST_BLOCKS = 48
"""3 MiB for one file: the tables of a Go program that one profile touches."""

EFFORT = 8_000_000
"""The most steps through tables for one question, about a second of Python. A usual question of 1500
addresses takes less than a third of that."""

_PIECE = 4 * BLOCK
"""The most that is read at once."""

_BLOCK_EFFORT = 500
LONGEST_TEXT = 2048
"""The longest name or path. Go's longest names, of generics within generics, have about 600."""

_LARGEST_OFFSET = (1 << 63) - 1
"""The kernel's off_t."""

LARGEST_FILE = 1 << 48
LARGEST_SHIFT = 1 << 48

_PT_LOAD = 1
EXECUTABLE, WRITABLE, READABLE = 1, 2, 4


class DamagedError(ValueError):
    """A table is not what it claims to be; the message says what was expected."""


class Effort:
    """The steps that are left to one question."""

    def __init__(self, steps: int = EFFORT) -> None:
        self._left = steps

    def renew(self, steps: int = EFFORT) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooMuchError


class _Blocks:
    """What was read of a file last. It knows nothing of who reads: what refers to itself would keep its
    memory until Python looks for such circles, which takes long where few objects are made."""

    def __init__(self, read_at: ReadAt) -> None:
        self._file = read_at
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self.effort = Effort()

    def read(self, offset: int, size: int) -> bytes:
        """Read at most *size* bytes, fewer at the end of the file."""
        if offset < 0 or size <= 0:
            return b""
        number, within = divmod(offset, BLOCK)
        block = self._block(number)
        if within + size <= BLOCK:
            return block[within : within + size]
        parts = [block[within:]]
        left = size - len(parts[0])
        while left > 0 and len(block) == BLOCK:
            number += 1
            block = self._block(number)
            parts.append(block[:left])
            left -= len(parts[-1])
        return b"".join(parts)

    def read_past(self, offset: int, size: int) -> bytes:
        """The same of what is not kept."""
        return self._file(offset, size) if offset <= _LARGEST_OFFSET - size else b""

    def _block(self, number: int) -> bytes:
        block = self._kept.get(number)
        if block is None:
            self.effort.spend(_BLOCK_EFFORT)
            block = self._kept[number] = self.read_past(number * BLOCK, BLOCK)
            if len(self._kept) > MOST_BLOCKS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(number)
        return block


class Image:
    """An ELF file; raises NotElfError when it is not one."""

    def __init__(self, read_at: ReadAt) -> None:
        blocks = _Blocks(read_at)
        self.read = blocks.read
        self._read_past = blocks.read_past
        self.effort = blocks.effort
        self.elf = Elf(BoundedFile(blocks.read, budget_bytes=8 << 20, budget_reads=4096))
        self.loaded = tuple(
            one
            for one in self.elf.segments
            if one.kind == _PT_LOAD and one.offset + one.size <= LARGEST_FILE
        )

    def content(self, offset: int, size: int) -> bytes:
        """The same of what is read once, and is not to drive out what is read again."""
        if offset < 0:
            return b""
        self.effort.spend(_BLOCK_EFFORT * (1 + size // BLOCK))
        end = offset + size
        return b"".join(
            self._read_past(at, min(_PIECE, end - at)) for at in range(offset, end, _PIECE)
        )

    def unpacked(self, layout: struct.Struct, offset: int) -> tuple[int, ...]:
        raw = self.read(offset, layout.size)
        if len(raw) < layout.size:
            raise DamagedError("a table reaches beyond the end of the file")
        return layout.unpack(raw)

    def text(self, offset: int) -> str:
        """The text at *offset*, which ends with a zero."""
        raw = self.read(offset, 128)
        end = raw.find(b"\0")
        if end < 0:
            raw = self.read(offset, LONGEST_TEXT)
            end = raw.find(b"\0")
        if end < 0:
            raise DamagedError("a text has no end")
        return raw[:end].decode("utf-8", "replace")

    def offset_of(self, address: int) -> int:
        """Where in the file an address is."""
        for segment in self.loaded:
            if 0 <= address - segment.address < segment.size:
                return segment.offset + address - segment.address
        raise DamagedError("an address lies in no segment")

    def address_of(self, offset: int, *, flags: int = 0) -> int | None:
        """The address of a place in the file, in the first segment that has it and all *flags*."""
        for segment in self.loaded:
            if segment.flags & flags == flags and 0 <= offset - segment.offset < segment.size:
                return segment.address + offset - segment.offset
        return None

    @property
    def shift(self) -> int:
        """The difference between the address of code and its place in the file."""
        code = (one for one in self.loaded if one.flags & EXECUTABLE)
        shift = next((one.address - one.offset for one in code), 0)
        return shift if 0 <= shift <= LARGEST_SHIFT else 0

    def search(self, wanted: bytes, segments: tuple[Segment, ...], *, most: int) -> Iterator[int]:
        """The offsets of *wanted* in the segments, of which at most *most* bytes are searched."""
        for segment in segments:
            size = min(segment.size, most)
            most -= size
            yield from self.occurrences(wanted, segment.offset, segment.offset + size)

    def occurrences(self, wanted: bytes, offset: int, end: int) -> Iterator[int]:
        """The offsets of *wanted* between two places in the file."""
        while offset < end:
            # Not through the blocks: a search would drive out what the questions need.
            self.effort.spend(_BLOCK_EFFORT)
            raw = self._read_past(offset, min(_PIECE, end - offset))
            found = raw.find(wanted)
            while found >= 0:
                self.effort.spend(20)
                yield offset + found
                found = raw.find(wanted, found + 1)
            if len(raw) < _PIECE:
                return
            offset += _PIECE - len(wanted) + 1
