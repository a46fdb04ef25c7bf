"""Names that are used once: of a process, and of what a file held when it was open."""

from typing import NamedTuple


class ProcessId(NamedTuple):
    """One process and no later one: a number is used again, at another time."""

    pid: int
    started_ticks: int


class FileId(NamedTuple):
    """What an open file was when it was examined; another content has another of these."""

    device: int
    inode: int
    size: int
    changed_ns: int
