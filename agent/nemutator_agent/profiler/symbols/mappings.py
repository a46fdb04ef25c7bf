"""/proc/PID/maps: which file, or what else, lies at an address."""

import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nemutator_agent.inspection.identities import FileId

MOST_MAPPINGS = 16_384
"""The most mappings of code in one process; the kernel allows 65 530 of all kinds."""

LARGEST = 16 << 20
"""The limit of the file: a path may have 4096 bytes, and a process may make all of them that long."""

_DELETED = " (deleted)"
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Mapping:
    """Code of a process; addresses from *start* to before *end*."""

    start: int
    end: int
    offset: int
    inode: int
    """0 where no file is mapped."""
    path: str
    """The path as the kernel shows it: for people to read, and never opened."""
    device: str = ""
    """The device that the inode is of, as the kernel shows it."""

    def is_of(self, other: "Mapping") -> bool:
        """Whether both are of one file."""
        return (self.inode, self.path) == (other.inode, other.path)

    @property
    def shown_path(self) -> str:
        return self.path.removesuffix(_DELETED)

    @property
    def named(self) -> str:
        """Its name for people: `libc.so.6`, `[vdso]`."""
        if not self.path:
            return "memory without a file"
        return posixpath.basename(self.shown_path)[:_LONGEST_NAME] or "a file"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is mapped, open."""

    file: int
    id: FileId


class Mappings:
    """The mappings of a process while it runs the program *image*; 0 when that is not known."""

    def __init__(self, mappings: Iterable[Mapping], *, image: int = 0) -> None:
        self._image = image
        self._mappings = sorted(mappings, key=lambda one: one.start)
        self._starts = [one.start for one in self._mappings]

    def are_of(self, image: int) -> bool:
        return not image or not self._image or image == self._image

    def at(self, address: int) -> Mapping | None:
        place = bisect_right(self._starts, address) - 1
        if place >= 0 and address < self._mappings[place].end:
            return self._mappings[place]
        return None

    def of_executable(self) -> tuple[Mapping, ...]:
        """The code of the program itself, which is mapped below its libraries."""
        first = next((one for one in self._mappings if one.inode), None)
        return tuple(one for one in self._mappings if first is not None and one.is_of(first))

    def __iter__(self) -> Iterator[Mapping]:
        return iter(self._mappings)

    def __len__(self) -> int:
        return len(self._mappings)


def parse(content: bytes, *, image: int = 0) -> Mappings:
    """The mappings that can be executed; a line that cannot be parsed is left out."""
    found: list[Mapping] = []
    for line in content.split(b"\n"):
        mapping = _mapping(line)
        if mapping is not None:
            found.append(mapping)
            if len(found) == MOST_MAPPINGS:
                break
    return Mappings(found, image=image)


def _mapping(line: bytes) -> Mapping | None:
    words = line.split(None, 5)
    if len(words) < 5 or words[1][2:3] != b"x":
        return None
    start, dash, end = words[0].partition(b"-")
    try:
        numbers = int(start, 16), int(end, 16), int(words[2], 16), int(words[4])
    except ValueError:
        return None
    if not dash or not 0 <= numbers[0] < numbers[1] or min(numbers) < 0:
        return None
    path = words[5].decode("utf-8", "replace") if len(words) == 6 else ""
    return Mapping(*numbers, path, words[3].decode("ascii", "replace"))
