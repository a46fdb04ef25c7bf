"""The memory of a process as a place to read from: bounded, in blocks, nothing taken on trust."""

import struct
from collections import OrderedDict

from nemutator_agent.inspection.bounded_file import BoundedFile, ReadAt, TooMuchError

__all__ = ["Memory", "TooMuchError", "UnmappedError"]

BLOCK = 64 << 10
PAGE = 4 << 10
MOST_BLOCKS = 64
"""4 MiB. Sites lie side by side in pieces of 256 KiB."""

MOST_BYTES = 512 << 20
MOST_READS = 1 << 18
_WORD = struct.Struct("<Q")
_HALF = struct.Struct("<I")


class UnmappedError(ValueError):
    """Nothing can be read there."""


class Memory:
    """Raises TooMuchError when a reading costs more than *most_bytes*."""

    def __init__(self, read_at: ReadAt, *, most_bytes: int = MOST_BYTES) -> None:
        self._file = BoundedFile(read_at, budget_bytes=most_bytes, budget_reads=MOST_READS)
        self._blocks: OrderedDict[tuple[int, int], bytes] = OrderedDict()

    def read(self, address: int, size: int) -> bytes:
        """All of the *size* bytes at *address*, at most a block. Raises UnmappedError."""
        found = self._some(address, size)
        while len(found) < size:
            more = self._some(address + len(found), size - len(found))
            found += more
        return found

    def word(self, address: int) -> int:
        (value,) = _WORD.unpack(self.read(address, _WORD.size))
        return int(value)

    def half(self, address: int) -> int:
        (value,) = _HALF.unpack(self.read(address, _HALF.size))
        return int(value)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", self.read(address, count * _WORD.size))

    def forget(self) -> None:
        """What is read from now on is read anew."""
        self._blocks.clear()

    def _some(self, address: int, size: int) -> bytes:
        # A block that begins where nothing is mapped cannot be read, though its end may be.
        for length in (BLOCK, PAGE):
            number, within = divmod(address, length)
            found = self._block(number, length)[within : within + size]
            if found:
                return found
        raise UnmappedError

    def _block(self, number: int, length: int) -> bytes:
        key = number, length
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = self._file.read(number * length, length)
            if len(self._blocks) > MOST_BLOCKS:
                self._blocks.popitem(last=False)
        else:
            self._blocks.move_to_end(key)
        return block
