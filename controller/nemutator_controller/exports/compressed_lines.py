"""Lines of text as one file of gzip, made a part at a time: the text of an hour is many times the file."""

import csv
import io
import zlib
from collections.abc import Iterable, Sequence

import msgspec

_GZIP = 16 + zlib.MAX_WBITS


class CompressedLines:
    def __init__(self) -> None:
        self._packing = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        self._parts: list[bytes] = []
        self.lines = 0

    def add_rows(self, rows: Sequence[Sequence[object]]) -> None:
        """As CSV (RFC 4180); None is an empty cell."""
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        self._add(text.getvalue().encode(), len(rows))

    def add_documents(self, documents: Iterable[object]) -> None:
        """A line of JSON for each."""
        lines = [msgspec.json.encode(one) + b"\n" for one in documents]
        self._add(b"".join(lines), len(lines))

    def content(self) -> bytes:
        """The whole file. Nothing is added after it."""
        self._parts.append(self._packing.flush())
        return b"".join(self._parts)

    def _add(self, text: bytes, lines: int) -> None:
        self.lines += lines
        self._parts.append(self._packing.compress(text))
