"""Names that a process writes for the code it has compiled itself: `/tmp/perf-PID.map`, as perf reads it.

A line is `START SIZE NAME`, both numbers in hexadecimal digits. Code is replaced by other code at the
same address, so the last line that has an address is right about it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from nemutator_common.profiles.model import Frame

from nemutator_agent.inspection.bounded_file import TooMuchError
from nemutator_agent.profiler.symbols.image import Effort

LARGEST = 32 << 20
"""What is read of a file, its end: a busy process of Node.js has written some 10 MB in a day."""

LONGEST_LINE = 4096
LONGEST_NAME = 512


def functions(
    pieces: Iterable[bytes], addresses: Sequence[int], effort: Effort
) -> tuple[dict[int, Frame], bool]:
    """A frame for each address that lies in any code, and whether the effort was enough to read all;
    *addresses* are sorted, each once.

    *pieces* are the file, cut anywhere. What is no line of this form is left out.
    """
    names: dict[int, bytes] = {}
    whole = True
    try:
        for line in _lines(pieces):
            _read(line, addresses, names, effort)
    except TooMuchError:
        whole = False
    frames = {
        address: Frame(name[:LONGEST_NAME].decode("utf-8", "replace"), kind="native")
        for address, name in names.items()
    }
    return frames, whole


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Those that end: the process may be writing the last one just now."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        rest = rest[:LONGEST_LINE]
        yield from lines


def _read(line: bytes, addresses: Sequence[int], names: dict[int, bytes], effort: Effort) -> None:
    effort.spend(1)
    words = line.split(None, 2)
    if len(words) < 3:
        return
    try:
        start, size = int(words[0], 16), int(words[1], 16)
    except ValueError:
        return
    first, end = bisect_left(addresses, start), bisect_left(addresses, start + size)
    effort.spend(max(end - first, 0))
    for place in range(first, end):
        names[addresses[place]] = words[2]
