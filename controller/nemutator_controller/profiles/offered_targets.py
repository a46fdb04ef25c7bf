"""What can be profiled, as people look for it: the processes, pods and units of a node's last report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nemutator_common.wire import ProcessUsage, Report, Runtime, Workload

from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.pods import PodLookup, RunningPod

BRIEF_S = 10.0
"""Who is not older may be one of those programs that live for seconds."""

MOST_NAMED = 5
"""Of several targets that have one name, in the message that says so."""

_SERVICE = ".service"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTarget:
    kind: Literal["pid", "pod", "cgroup"]
    value: str
    """As a request names it, together with the kind and the node."""
    node: str
    path: str
    """Its control group."""
    name: str
    also: tuple[str, ...] = ()
    """Other names that people know it by."""
    within: str = ""
    """The unit, or pod and container, that a process is in."""
    runtime: Runtime | None
    """Of several processes, that of the first one in the order of the list."""
    runtime_version: str | None
    age_s: float
    """Of several processes, the age of the oldest."""
    cpu_cores: float | None
    memory_bytes: int | None
    processes: int = 1

    @property
    def target(self) -> str:
        """As `nemutator profile` takes it."""
        named = self.kind == "pod" and "/" in self.value
        return self.value if named else f"{self.kind}:{self.value}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also)

    @property
    def rank(self) -> tuple[bool, bool, float, str, str, str]:
        """Go comes first, and then what is busy; what has just started, and may have ended, comes last."""
        brief = self.age_s < BRIEF_S
        return (
            brief,
            self.runtime != "go",
            -(self.cpu_cores or 0.0),
            self.name,
            self.node,
            self.value,
        )

    def contains(self, other: "OfferedTarget") -> bool:
        below = f"{self.path.rstrip('/')}/"
        inside = other.path == self.path or other.path.startswith(below)
        return self.kind != "pid" and self.node == other.node and inside and other is not self

    def has(self, words: Sequence[str]) -> bool:
        """Whether each of *words*, in small letters, is in one of its texts."""
        texts = (*self.names, self.within, self.target, self.node, self.runtime or "")
        shown = "\n".join(texts).lower()
        return all(word in shown for word in words)


def offered(node: ReportedNode, pods: PodLookup) -> list[OfferedTarget]:
    """All processes of *node*, its pods, and its units."""
    report = node.report
    groups = {workload.path: workload for workload in report.workloads}
    processes = [_process(one, node.name, report, groups, pods) for one in report.processes]
    inside: dict[str, list[OfferedTarget]] = {}
    for process in processes:
        for path in _above(process.path):
            inside.setdefault(path, []).append(process)
    whole = [
        _group(group, node.name, sorted(inside[group.path], key=lambda one: one.rank), pods)
        for group in report.workloads
        if group.kind in ("unit", "pod") and group.path in inside
    ]
    return [*processes, *whole]


def listed(targets: Iterable[OfferedTarget], search: str) -> list[OfferedTarget]:
    """Those with all words of *search*, in their order; a unit of one process is left to that one."""
    words = search.lower().split()
    chosen = (
        one
        for one in targets
        if (one.kind != "cgroup" or one.processes > 1) and (not words or one.has(words))
    )
    return sorted(chosen, key=lambda one: one.rank)


def named(targets: Sequence[OfferedTarget], name: str, *, units: bool) -> list[OfferedTarget]:
    """Those whose name is *name*; *units*: of units alone. What is inside of one is left to it."""
    found = [one for one in targets if name in one.names and (not units or one.kind == "cgroup")]
    groups = [one for one in found if one.kind != "pid"]
    return [one for one in found if not any(group.contains(one) for group in groups)]


def enumerated(targets: Sequence[OfferedTarget]) -> str:
    """The first of *targets*, in words."""
    shown = ", ".join(f"{one.target} on {one.node}" for one in targets[:MOST_NAMED])
    left = len(targets) - MOST_NAMED
    return shown + (f" and {left} more" if left > 0 else "")


def _above(path: str) -> Iterator[str]:
    """*path* and all that it is in, but for the root."""
    while path.strip("/"):
        yield path
        path = path.rpartition("/")[0]


def _process(
    process: ProcessUsage,
    node: str,
    report: Report,
    groups: Mapping[str, Workload],
    pods: PodLookup,
) -> OfferedTarget:
    script = (process.script or "").rpartition("/")[2]
    return OfferedTarget(
        kind="pid",
        value=str(process.pid),
        node=node,
        path=process.workload,
        name=process.command,
        also=(script,) if script else (),
        within=_within(groups.get(process.workload), node, pods),
        runtime=process.runtime,
        runtime_version=process.runtime_version,
        age_s=max(0.0, report.taken_at - process.started_at),
        cpu_cores=process.cpu_cores,
        memory_bytes=process.memory_bytes,
    )


def _within(group: Workload | None, node: str, pods: PodLookup) -> str:
    if group is None or group.kind == "root":
        return ""
    placed = pods.of(node, group.pod_uid, group.container_id)
    return (
        group.name if placed is None else " ".join(filter(None, (_pod(placed), placed.container)))
    )


def _group(
    group: Workload, node: str, processes: Sequence[OfferedTarget], pods: PodLookup
) -> OfferedTarget:
    value, name = group.path, group.name
    also: tuple[str, ...] = (group.name.removesuffix(_SERVICE),)
    if group.kind == "pod":
        placed = pods.of(node, group.pod_uid, None)
        value = name = group.pod_uid or group.name
        also = ()
        if placed is not None:
            value = name = _pod(placed)
            also = (placed.pod, placed.owner.name)
    return OfferedTarget(
        kind="pod" if group.kind == "pod" else "cgroup",
        value=value,
        node=node,
        path=group.path,
        name=name,
        also=also,
        runtime=processes[0].runtime,
        runtime_version=processes[0].runtime_version,
        age_s=max(one.age_s for one in processes),
        cpu_cores=group.cpu_cores,
        memory_bytes=group.memory_bytes,
        processes=len(processes),
    )


def _pod(placed: RunningPod) -> str:
    return f"{placed.namespace}/{placed.pod}"
