"""Which addresses of a profile need names: by process, by file, and what was seen most comes first."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nemutator_common.profiles.model import Frame

from nemutator_agent.profiler.raw import RawRow, Task
from nemutator_agent.profiler.symbols.calls import ELSEWHERE
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings
from nemutator_agent.profiler.symbols.named_profile import (
    callers,
    calls_of,
    looked_up,
    possible_stacks,
)


@dataclass(frozen=True, slots=True)
class TaskAddresses:
    """Addresses of one process that are looked up."""

    task: Task
    seen: dict[int, int]
    """How many samples each is in; none of what may turn out to be a caller."""
    leaves: set[int]
    """Those of them whose depth decides about a caller."""
    calls: dict[tuple[int, int], int] = field(default_factory=dict)
    """Callers with what they called, both as they are looked up, and how many samples show that."""


@dataclass(slots=True)
class MappedAddresses:
    """Addresses of one process that lie in one mapping."""

    task: Task
    mapping: Mapping
    places: dict[int, int] = field(default_factory=dict)
    """Offsets in the file, by address."""
    leaves: set[int] = field(default_factory=set)
    counts: dict[int, int] = field(default_factory=dict)
    """How many samples each address is in."""
    calls: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """The places of those whose caller lies here, by their addresses, that of most samples first. What
    lies in another file has the place ELSEWHERE."""

    @property
    def seen(self) -> int:
        return sum(self.counts.values())


def by_task(rows: Iterable[RawRow]) -> Iterator[TaskAddresses]:
    """Addresses by process, the process with the most samples first."""
    samples: Counter[Task] = Counter()
    found: dict[Task, TaskAddresses] = {}
    for row in rows:
        if not row.user:
            continue
        samples[row.task] += row.count
        wanted = found.setdefault(row.task, TaskAddresses(row.task, {}, set()))
        for pc in (*looked_up(row.user), *(caller - 1 for caller in row.waiting)):
            wanted.seen[pc] = wanted.seen.get(pc, 0) + row.count
        if words := callers(row):
            wanted.leaves.add(row.user[0])
            for word in words:
                wanted.seen.setdefault(word - 1, 0)
        for stack in possible_stacks(row):
            for call in calls_of(stack):
                wanted.calls[call] = wanted.calls.get(call, 0) + row.count
    return (found[task] for task, _ in samples.most_common())


def by_mapping(
    wanted: TaskAddresses, addresses: Iterable[int], mappings: Mappings
) -> list[MappedAddresses]:
    """Those of the *addresses* that lie in any mapping, with a file or without."""
    parts: dict[Mapping, MappedAddresses] = {}
    of: dict[int, MappedAddresses] = {}
    for pc in addresses:
        mapping = mappings.at(pc)
        if mapping is not None:
            part = parts.setdefault(mapping, MappedAddresses(wanted.task, mapping))
            of[pc] = part
            part.places[pc] = pc - mapping.start + mapping.offset
            part.counts[pc] = wanted.seen[pc]
            if pc in wanted.leaves:
                part.leaves.add(pc)
    for caller, callee in sorted(wanted.calls, key=lambda call: -wanted.calls[call]):
        if caller in of:
            around, other = of[caller], of.get(callee)
            near = other is not None and other.mapping.is_of(around.mapping)
            place = other.places[callee] if other and near else ELSEWHERE
            around.calls[caller, callee] = around.places[caller], place
    return list(parts.values())


def most_seen_first(parts: Iterable[MappedAddresses]) -> list[MappedAddresses]:
    """Those of the file first that was seen most in all processes together."""
    parts = list(parts)
    seen: Counter[tuple[int, str]] = Counter()
    for part in parts:
        seen[part.mapping.inode, part.mapping.path] += part.seen
    return sorted(parts, key=lambda part: -seen[part.mapping.inode, part.mapping.path])


def without_names(
    parts: Iterable[MappedAddresses], names: dict[tuple[Task, int], tuple[Frame, ...]]
) -> dict[str, tuple[int, int]]:
    """By the name of a file: how many of its addresses have no name, and how often they were seen."""
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        unnamed = [pc for pc in part.places if _is_unnamed(names.get((part.task, pc), ()))]
        if unnamed:
            places, seen = found.get(part.mapping.named, (0, 0))
            seen += sum(part.counts[pc] for pc in unnamed)
            found[part.mapping.named] = places + len(unnamed), seen
    return found


def of_memory(
    parts: Iterable[MappedAddresses], names: dict[tuple[Task, int], tuple[Frame, ...]]
) -> dict[Task, list[int]]:
    """Addresses without a name in memory that no file fills, sorted, by process."""
    found: dict[Task, list[int]] = {}
    for part in parts:
        if not part.mapping.inode or part.mapping.path.startswith("/memfd:"):
            unnamed = (pc for pc in part.places if _is_unnamed(names.get((part.task, pc), ())))
            found.setdefault(part.task, []).extend(unnamed)
    return {task: sorted(addresses) for task, addresses in found.items() if addresses}


def _is_unnamed(frames: tuple[Frame, ...]) -> bool:
    # No frame at all: the compiler made the function, and it is left out.
    return bool(frames) and frames[0].kind == "unknown"
