"""Processes that began, as the kernel's connector tells them (cn_proc): those too that ended at once.

A process that is gone when we look belongs to the group of the nearest of its parents that is not: it
was born there.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

# struct nlmsghdr, struct cn_msg, then struct proc_event: what, cpu, time, and what happened.
_LENGTH = struct.Struct("=I")
EVENT_AT = 16 + 20
_EVENT = struct.Struct("=IIQ")
_FORK = struct.Struct("=IIII")
FORK = 1

_MOST_PARENTS = 64
"""That are asked for one process: more are a loop, or somebody's joke."""


class Began(NamedTuple):
    parent: int
    child: int


def parse_events(datagram: bytes) -> Iterator[Began]:
    """The new processes in *datagram*; new threads and everything else are left out."""
    at = 0
    while at + EVENT_AT + _EVENT.size + _FORK.size <= len(datagram):
        (length,) = _LENGTH.unpack_from(datagram, at)
        what, _, _ = _EVENT.unpack_from(datagram, at + EVENT_AT)
        _, parent, thread, child = _FORK.unpack_from(datagram, at + EVENT_AT + _EVENT.size)
        if what == FORK and thread == child:
            yield Began(parent, child)
        if length < EVENT_AT:
            return
        at += (length + 3) & ~3


def starts_by_group(began: list[Began], paths: Mapping[int, str]) -> Mapping[str, int]:
    """How many began in each group; *paths* has the groups of the processes that are there now, and
    of those that were there before. One without any such parent belongs to no group that we know."""
    parents = {one.child: one.parent for one in began}
    found: dict[str, int] = {}
    for one in began:
        pid: int | None = one.child
        for _ in range(_MOST_PARENTS):
            if pid is None or pid in paths:
                break
            pid = parents.get(pid)
        path = None if pid is None else paths.get(pid)
        if path is not None:
            found[path] = found.get(path, 0) + 1
    return found
