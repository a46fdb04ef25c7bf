"""Counters of control groups, from whichever mounted hierarchy has them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from nemutator_common.wire import Pressures

from nemutator_agent.usage.cgroup_files import parse_keyed, parse_single
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.pressure import parse_pressure
from nemutator_agent.usage.snapshot import GroupCounters

T = TypeVar("T")

_NS_PER_US = 1000


class CounterFiles(Protocol):
    """Reads files; `cached_files.py` does it in the product."""

    def read(self, path: str) -> bytes | None: ...

    def inode(self, path: str) -> int | None: ...


@dataclass(eq=False, slots=True)
class ControlGroups:
    files: CounterFiles
    root: str = ""

    def read(self, path: str, hierarchies: Iterable[Hierarchy]) -> GroupCounters:
        """The counters of the group at *path*, each from the first hierarchy that has it."""
        inode = cpu_us = memory_bytes = None
        pressures = Pressures()
        for hierarchy in hierarchies:
            directory = hierarchy.directory(path)
            if directory is None:
                continue
            place = f"{self.root}{directory}"
            if hierarchy.version == 2:
                pressures = self._pressures(place)
            if cpu_us is None and (hierarchy.version == 2 or "cpuacct" in hierarchy.controllers):
                file, cpu_us = self._cpu_us(place, hierarchy.version)
                inode = self.files.inode(file)
            if memory_bytes is None and (
                hierarchy.version == 2 or "memory" in hierarchy.controllers
            ):
                memory_bytes = self._memory_bytes(place, hierarchy.version)
        return GroupCounters(inode, cpu_us, memory_bytes, pressures)

    def _cpu_us(self, place: str, version: int) -> tuple[str, int | None]:
        if version == 2:
            # Every group has this file, whether the cpu controller is enabled for it or not.
            file = f"{place}/cpu.stat"
            return file, self._parsed(file, lambda content: parse_keyed(content, b"usage_usec"))
        file = f"{place}/cpuacct.usage"
        used_ns = self._parsed(file, parse_single)
        return file, None if used_ns is None else used_ns // _NS_PER_US

    def _memory_bytes(self, place: str, version: int) -> int | None:
        """As kubelet counts: a group does not need page cache that nobody touched lately."""
        charged, inactive = (
            ("memory.current", b"inactive_file")
            if version == 2
            else ("memory.usage_in_bytes", b"total_inactive_file")
        )
        used = self._parsed(f"{place}/{charged}", parse_single)
        if used is None:
            return None
        cache = self._parsed(f"{place}/memory.stat", lambda content: parse_keyed(content, inactive))
        return None if cache is None else max(used - cache, 0)

    def _pressures(self, place: str) -> Pressures:
        return Pressures(
            cpu=self._parsed(f"{place}/cpu.pressure", parse_pressure),
            memory=self._parsed(f"{place}/memory.pressure", parse_pressure),
            io=self._parsed(f"{place}/io.pressure", parse_pressure),
        )

    def _parsed(self, file: str, parse: Callable[[bytes], T]) -> T | None:
        content = self.files.read(file)
        try:
            return None if content is None else parse(content)
        except MalformedError:
            return None
