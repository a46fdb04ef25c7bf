"""Lines out of a stream of bytes, however it is cut.

A watch is one JSON object a line. asyncio's and aiohttp's own `readline` stop at 64 KiB, and an
object of Kubernetes may have megabytes.
"""

LONGEST_LINE = 12 << 20
"""etcd takes 1.5 MiB of protobuf, and Go's JSON writes `<`, `>` and `&` with six bytes each."""

KEPT_OF_OVERLONG = 4096
"""Enough of an overlong line to say which object it was about."""


Lines = bytes | memoryview
"""Whole lines, one or many, with the newlines between them."""


class LineSplitter:
    """It is fed chunks and returns lines: only those that are cut in two are copied.

    A cut line longer than *longest* comes as its beginning; one that lies whole in a chunk is no
    longer than the chunk.
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self.overlong = 0
        """Lines so far that were cut: each is one that cannot be decoded."""

    def feed(self, chunk: bytes) -> list[Lines]:
        """The lines that *chunk* completes: one that began earlier, then all others together."""
        found: list[Lines] = []
        start, end = 0, chunk.rfind(b"\n") + 1
        if self._size and end:
            start = chunk.index(b"\n") + 1
            self._keep(chunk[: start - 1])
            found.append(self._finish())
        if start < end:
            found.append(memoryview(chunk)[start:end])
        self._keep(chunk[end:])
        return found

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
