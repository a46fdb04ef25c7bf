"""What kubelet lets all pods of a node have together: the limits of the group that it keeps them in."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.machine_files import parse_limit
from nemutator_agent.usage.malformed import MalformedError

_NAMES = ("kubepods", "kubepods.slice", "kubelet-kubepods.slice")


class PodsLimits(NamedTuple):
    memory_bytes: int | None = None
    pids: int | None = None


def pods_limits(
    groups: Mapping[str, Iterable[Hierarchy]],
    read: Callable[[str], bytes | None],
    root: str = "",
) -> PodsLimits:
    """Of the group nearest to the root that has kubelet's name."""
    named = [path for path in groups if path.rpartition("/")[2] in _NAMES]
    if not named:
        return PodsLimits()
    path = min(named, key=lambda one: (one.count("/"), one))
    memory = pids = None
    for hierarchy in groups[path]:
        directory = hierarchy.directory(path)
        if directory is None:
            continue
        unified = hierarchy.version == 2
        if memory is None and (unified or "memory" in hierarchy.controllers):
            name = "memory.max" if unified else "memory.limit_in_bytes"
            memory = _limit(read(f"{root}{directory}/{name}"))
        if pids is None and (unified or "pids" in hierarchy.controllers):
            pids = _limit(read(f"{root}{directory}/pids.max"))
    return PodsLimits(memory, pids)


def _limit(content: bytes | None) -> int | None:
    try:
        return None if content is None else parse_limit(content)
    except MalformedError:
        return None
