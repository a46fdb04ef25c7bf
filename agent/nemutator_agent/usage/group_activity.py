"""What a control group did beside CPU and memory: its counters, and the rates between two readings."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_common.wire_activity import Activity

from nemutator_agent.usage.activity_files import (
    MovedBytes,
    Throttling,
    names_disks,
    parse_blkio,
    parse_io_stat,
    parse_throttling,
)
from nemutator_agent.usage.cgroup_files import parse_keyed, parse_single
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.malformed import MalformedError

T = TypeVar("T")

_US_PER_S = 1_000_000

_LEGACY_DISKS = "blkio.throttle.io_service_bytes_recursive"


@dataclass(frozen=True, slots=True)
class ActivityCounters:
    """Counters that only grow, but for *pids*; None where one could not be read."""

    at: float
    throttling: Throttling | None
    oom_kills: int | None
    pids: int | None
    moved: MovedBytes | None


@dataclass(eq=False, slots=True)
class ActivityFiles:
    read: Callable[[str], bytes | None]
    devices: Collection[bytes]
    """The disks that count, as major:minor."""
    root: str = ""
    _counts_disks: bool = field(default=False, init=False)
    """Of version 1, whether the kernel is known to count what groups move. Once it does, it goes on."""

    def counters(self, path: str, hierarchies: Iterable[Hierarchy], at: float) -> ActivityCounters:
        """The counters of the group at *path*, each from the hierarchy that has its controller."""
        there = [(one, one.directory(path)) for one in hierarchies]
        places = [(one, f"{self.root}{directory}") for one, directory in there if directory]

        def found(controller: str, unified: str, legacy: str) -> tuple[int, bytes | None]:
            # A controller of version 1 is not in the hierarchy of version 2.
            for one, place in places:
                if controller in one.controllers:
                    return 1, self.read(f"{place}/{legacy}")
            for one, place in places:
                if one.version == 2:
                    return 2, self.read(f"{place}/{unified}")
            return 0, None

        cpu = found("cpu", "cpu.stat", "cpu.stat")
        _, memory = found("memory", "memory.events", "memory.oom_control")
        _, pids = found("pids", "pids.current", "pids.current")
        version, disks = found("blkio", "io.stat", _LEGACY_DISKS)
        moved = parse_io_stat if version == 2 else parse_blkio
        if version == 1 and disks is not None and not self._is_counted(disks, hierarchies):
            disks = None
        return ActivityCounters(
            at=at,
            throttling=_parsed(cpu[1], lambda text: parse_throttling(text, version=cpu[0])),
            oom_kills=_parsed(memory, lambda text: parse_keyed(text, b"oom_kill")),
            pids=_parsed(pids, parse_single),
            moved=_parsed(disks, lambda text: moved(text, self.devices)),
        )

    def _is_counted(self, content: bytes, hierarchies: Iterable[Hierarchy]) -> bool:
        """Since Linux 6.10 the kernel counts nothing before some group has a limit for a disk. The group of all groups has moved
        something by now: if its own file names no disk, that of another group that names none does not mean that it moved nothing."""
        if self._counts_disks:
            return True
        whole = [one.mount for one in hierarchies if "blkio" in one.controllers and one.root == "/"]
        every = [self.read(f"{self.root}{mount}/{_LEGACY_DISKS}") for mount in whole]
        known = [text for text in every if text is not None]
        self._counts_disks = any(names_disks(text) for text in (content, *known))
        # Of a part of the hierarchy, as a container may see it, nothing is concluded.
        return self._counts_disks or not known


def activity_between(before: ActivityCounters | None, after: ActivityCounters) -> Activity:
    """What a group did between two readings; of one alone, only what is not a rate."""
    elapsed_s = after.at - before.at if before else 0.0
    share, stopped_s = _throttled(before, after, elapsed_s)
    read = written = None
    if before is not None and before.moved and after.moved:
        read = _per_s(before.moved.read, after.moved.read, elapsed_s)
        written = _per_s(before.moved.written, after.moved.written, elapsed_s)
    return Activity(
        throttled=share,
        throttled_s=stopped_s,
        oom_kills=after.oom_kills,
        pids=after.pids,
        disk_read=read,
        disk_written=written,
    )


def _throttled(
    before: ActivityCounters | None, after: ActivityCounters, elapsed_s: float
) -> tuple[float | None, float | None]:
    if before is None or before.throttling is None or after.throttling is None or elapsed_s <= 0:
        return None, None
    periods, throttled, spent_us = (
        new - old for old, new in zip(before.throttling, after.throttling, strict=True)
    )
    if periods < 0 or throttled < 0 or spent_us < 0:
        return None, None
    # A group that did not run, or has no limit, was not stopped either.
    share = min(throttled / periods, 1.0) if periods else 0.0
    return round(share, 4), round(spent_us / _US_PER_S / elapsed_s, 6)


def _per_s(before: int, after: int, elapsed_s: float) -> float | None:
    if after < before or elapsed_s <= 0:
        return None
    return round((after - before) / elapsed_s, 1)


def _parsed(content: bytes | None, parse: Callable[[bytes], T]) -> T | None:
    try:
        return None if content is None else parse(content)
    except MalformedError:
        return None
