"""Reads a stranger's file at the places that it names, but never more than its budget."""

from collections.abc import Callable

ReadAt = Callable[[int, int], bytes]
"""Reads bytes at an offset, fewer at the end of the file: `os.pread` of one file."""

_LARGEST_OFFSET = (1 << 63) - 1
"""The kernel's off_t."""


class TooMuchError(Exception):
    """The file has led from place to place until the budget was spent."""


class BoundedFile:
    """Counts every byte and every read against a budget."""

    def __init__(self, read_at: ReadAt, *, budget_bytes: int, budget_reads: int) -> None:
        self._read_at = read_at
        self._bytes_left = budget_bytes
        self._reads_left = budget_reads

    def read(self, offset: int, size: int) -> bytes:
        """Read at most *size* bytes; none when *offset* cannot be in a file."""
        if not 0 <= offset <= _LARGEST_OFFSET - size or size <= 0:
            return b""
        self._reads_left -= 1
        self._bytes_left -= size
        if self._reads_left < 0 or self._bytes_left < 0:
            raise TooMuchError
        return self._read_at(offset, size)
