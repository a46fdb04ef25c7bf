"""Lines out of a stream of bytes, however it is cut.

A watch is one JSON object a line. asyncio's and aiohttp's own `readline` stop at 64 KiB, and an
object of Kubernetes may have megabytes.
"""

LONGEST_LINE = 4 << 20
"""etcd takes 1.5 MiB of protobuf, which becomes up to about 3 MiB of JSON with its envelope."""

KEPT_OF_OVERLONG = 4096
"""Enough of an overlong line to say which object it was about."""


class LineSplitter:
    """Feed it chunks, get lines. A line longer than *longest* comes cut to its beginning."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self.overlong = 0
        """Lines so far that were cut: each is one that cannot be decoded."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that *chunk* completes, without their newlines."""
        first, newline, rest = chunk.partition(b"\n")
        self._keep(first)
        if not newline:
            return []
        lines = [self._finish()]
        *whole, last = rest.split(b"\n")
        lines += [self._bounded(line) for line in whole]
        self._keep(last)
        return [line for line in lines if line.strip()]

    def _keep(self, part: bytes) -> None:
        if not part:
            return
        self._size += len(part)
        if self._size <= self._longest:
            self._parts.append(part)
        elif self._parts:
            # Too long already: keep its beginning, forget the rest, wait for the newline.
            self._parts = [b"".join([*self._parts, part])[:KEPT_OF_OVERLONG]]
        else:
            self._parts = [part[:KEPT_OF_OVERLONG]]

    def _finish(self) -> bytes:
        line = b"".join(self._parts)
        if self._size > self._longest:
            self.overlong += 1
            line = line[:KEPT_OF_OVERLONG]
        self._parts = []
        self._size = 0
        return line

    def _bounded(self, line: bytes) -> bytes:
        if len(line) <= self._longest:
            return line
        self.overlong += 1
        return line[:KEPT_OF_OVERLONG]
