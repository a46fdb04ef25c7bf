"""Counters of control groups, from whichever mounted hierarchy has them."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from nemutator_common.wire import Pressure, Pressures

from nemutator_agent.usage.cgroup_files import parse_keyed, parse_single
from nemutator_agent.usage.group_names import is_sized
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.pressure import parse_pressure, parse_stalled_us
from nemutator_agent.usage.snapshot import GroupCounters, Stalls, Waits

T = TypeVar("T")

_NS_PER_US = 1000


class CounterFiles(Protocol):
    """Reads files; `cached_files.py` does it in the product."""

    def read(self, path: str) -> bytes | None: ...

    def inode(self, path: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class _Files:
    """Where a group's counters are; None where no hierarchy that is mounted has them."""

    hierarchies: tuple[Hierarchy, ...]
    cpu: tuple[tuple[str, int], ...]
    """With the version of each."""
    memory: tuple[tuple[str, str, bytes], ...]
    """What is charged, and the file of everything else with what its keys begin with."""
    pressures: str | None


class _Memory(NamedTuple):
    charged: int | None = None
    needed: int | None = None
    refaulted: int | None = None
    """Only where the long file was read."""


class ControlGroups:
    def __init__(
        self,
        files: CounterFiles,
        root: str = "",
        seldom: Callable[[str], bytes | None] | None = None,
        page_bytes: int = 4096,
    ) -> None:
        """*seldom* reads what is not read in every snapshot."""
        self._files = files
        self._seldom = seldom or files.read
        self._root = root
        self._page_bytes = page_bytes
        self._known: dict[str, _Files] = {}

    def read(
        self,
        path: str,
        hierarchies: Iterable[Hierarchy],
        *,
        before: GroupCounters | None = None,
        whole: bool = True,
        at: float = 0.0,
    ) -> GroupCounters:
        """The counters of the group at *path* at *at*, each from the first hierarchy that has it.

        Unless it is to be read *whole*, pressure stays as it was *before*, and so does the memory of
        a group that is the sum of others.
        """
        there = tuple(hierarchies)
        files = self._known.get(path)
        if files is None or (files.hierarchies is not there and files.hierarchies != there):
            files = self._known[path] = self._located(path, there)
        inode = cpu_us = None
        for file, version in files.cpu:
            cpu_us = self._cpu_us(file, version)
            inode = self._files.inode(file)
            if cpu_us is not None:
                break
        fresh = whole or before is None or before.inode != inode
        if fresh or before is None:
            memory = self._memory(files, None)
        elif is_sized(path):
            memory = self._memory(files, before)
        else:
            memory = _Memory(before.charged_bytes, before.memory_bytes)
        if fresh or before is None:
            pressures, stalls = self._pressures(files.pressures, at)
            if stalls is not None:
                stalls = stalls._replace(refaulted_bytes=memory.refaulted)
            same = before is not None and before.inode == inode
            waits = waits_between(before.stalls if before is not None and same else None, stalls)
        else:
            pressures, stalls, waits = before.pressures, before.stalls, before.waits
        return GroupCounters(inode, cpu_us, memory.needed, pressures, memory.charged, stalls, waits)

    def forget(self, living: Container[str]) -> None:
        """Forget where the files of all others are."""
        for path in [path for path in self._known if path not in living]:
            del self._known[path]

    def _located(self, path: str, hierarchies: tuple[Hierarchy, ...]) -> _Files:
        cpu: list[tuple[str, int]] = []
        memory: list[tuple[str, str, bytes]] = []
        pressures = None
        for hierarchy in hierarchies:
            directory = hierarchy.directory(path)
            if directory is None:
                continue
            place = f"{self._root}{directory}"
            if hierarchy.version == 2:
                pressures = place
                # Every group has this file, whether the cpu controller is enabled for it or not.
                cpu.append((f"{place}/cpu.stat", 2))
                memory.append((f"{place}/memory.current", f"{place}/memory.stat", b""))
            if "cpuacct" in hierarchy.controllers:
                cpu.append((f"{place}/cpuacct.usage", 1))
            if "memory" in hierarchy.controllers:
                charged = f"{place}/memory.usage_in_bytes"
                memory.append((charged, f"{place}/memory.stat", b"total_"))
        # Where version 1 has the memory controller, version 2 has none.
        if len(memory) > 1:
            memory = memory[1:]
        return _Files(hierarchies, tuple(cpu), tuple(memory), pressures)

    def _cpu_us(self, file: str, version: int) -> int | None:
        content = self._files.read(file)
        if content is None:
            return None
        try:
            if version == 2:
                return parse_keyed(content, b"usage_usec")
            return parse_single(content) // _NS_PER_US
        except MalformedError:
            return None

    def _memory(self, files: _Files, before: GroupCounters | None) -> _Memory:
        """What is charged, and what of it the group needs, as kubelet counts: page cache that nobody
        touched lately is not needed. Where as much is charged as *before*, the long file is not read."""
        for file, stat, begins in files.memory:
            charged = _parsed(self._files.read(file), parse_single)
            if charged is None:
                continue
            if before is not None and charged == before.charged_bytes:
                return _Memory(charged, before.memory_bytes)
            content = self._files.read(stat)
            cache = _parsed(content, partial(parse_keyed, key=begins + b"inactive_file"))
            # Before Linux 5.9 it is not told apart from what was swapped, and is not known.
            pages = _parsed(content, partial(parse_keyed, key=begins + b"workingset_refault_file"))
            return _Memory(
                charged,
                None if cache is None else max(charged - cache, 0),
                None if pages is None else pages * self._page_bytes,
            )
        return _Memory()

    def _pressures(self, place: str | None, at: float) -> tuple[Pressures, Stalls | None]:
        if place is None:
            return Pressures(), None
        cpu, memory, io = (
            self._seldom(f"{place}/{what}.pressure") for what in ("cpu", "memory", "io")
        )
        stalls = Stalls(
            at, *(None if one is None else parse_stalled_us(one) for one in (cpu, memory, io))
        )
        return Pressures(cpu=_pressure(cpu), memory=_pressure(memory), io=_pressure(io)), stalls


def waits_between(before: Stalls | None, after: Stalls | None) -> Waits | None:
    """How much of the time between two readings some task waited: not a mean that fades, as the file's others are."""
    if before is None or after is None or after.at <= before.at:
        return None
    elapsed_us = 1e6 * (after.at - before.at)

    def percent(begun: int | None, ended: int | None) -> float | None:
        if begun is None or ended is None or ended < begun:
            return None
        return round(min(100.0 * (ended - begun) / elapsed_us, 100.0), 2)

    refaulted = None
    if before.refaulted_bytes is not None and after.refaulted_bytes is not None:
        grown = after.refaulted_bytes - before.refaulted_bytes
        refaulted = None if grown < 0 else round(1e6 * grown / elapsed_us, 1)
    return Waits(
        percent(before.cpu_us, after.cpu_us),
        percent(before.memory_us, after.memory_us),
        percent(before.io_us, after.io_us),
        refaulted,
    )


def _parsed(content: bytes | None, parse: Callable[[bytes], T]) -> T | None:
    try:
        return None if content is None else parse(content)
    except MalformedError:
        return None


def _pressure(content: bytes | None) -> Pressure | None:
    try:
        return None if content is None else parse_pressure(content)
    except MalformedError:
        return None
