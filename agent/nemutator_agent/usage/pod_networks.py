"""The network of pods: counters of the interfaces in their network namespaces.

/proc/PID/net/dev of one process shows them to everybody: no right is needed, and no namespace entered.
The kernel makes that file anew for each namespace, so its inode tells namespaces apart, too.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nemutator_common.wire_activity import NetworkRates

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.hierarchies import with_ancestors
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.network_files import (
    InterfaceCounters,
    interface_rates,
    leading_out,
    parse_interfaces,
)


class NamespaceFile(NamedTuple):
    """/proc/PID/net/dev, and the inode that its namespace gave it."""

    inode: int
    content: bytes


@dataclass(frozen=True, slots=True)
class NetworkCounters:
    at: float
    inode: int
    counted: InterfaceCounters


@dataclass(eq=False, slots=True)
class PodNetworks:
    read: Callable[[int], NamespaceFile | None]
    _machine: tuple[float, NamespaceFile | None] | None = None

    def counters(self, pid: int, at: float) -> NetworkCounters | None:
        """What the namespace of *pid* has moved; None when it is the machine's own, or has ended."""
        if self._machine is None or self._machine[0] != at:
            self._machine = at, self.read(1)
        machine, found = self._machine[1], self.read(pid)
        # Who may not see the machine's cannot tell a pod that shares it.
        if found is None or machine is None or machine.inode == found.inode:
            return None
        try:
            counted = leading_out(parse_interfaces(found.content))
        except MalformedError:
            return None
        return NetworkCounters(at, found.inode, counted)


def rates_between(before: NetworkCounters | None, after: NetworkCounters) -> NetworkRates:
    """None for each counter that went back, and for all where the namespace is another."""
    if before is None or before.inode != after.inode or after.at <= before.at:
        return NetworkRates()
    return interface_rates(before.counted, after.counted, after.at - before.at)


@functools.lru_cache(maxsize=4096)
def network_owner(path: str) -> str | None:
    """The group that the network of a process in *path* is told of: its pod, or its container."""
    container = None
    for above in with_ancestors(path):
        naming = name_group(above)
        if naming.kind == "pod":
            return above
        if naming.kind == "container" and container is None:
            container = above
    return container


def oldest_members(processes: Iterable[tuple[ProcessId, str | None]]) -> Mapping[str, ProcessId]:
    """The process of each owner that runs longest: it was there before any made a namespace."""
    oldest: dict[str, ProcessId] = {}
    for process, owner in processes:
        if owner is None:
            continue
        known = oldest.get(owner)
        if known is None or (process.started_ticks, process.pid) < (
            known.started_ticks,
            known.pid,
        ):
            oldest[owner] = process
    return oldest
