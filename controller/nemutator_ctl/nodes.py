"""The brain's nodes as typed values: raw JSON goes no further than this file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common.wire import Throughput
from nemutator_common.wire_activity import FileSystem, NetworkInterface

from nemutator_ctl.answers import Amount, Listing, understood

NODES_PATH = "/api/v1/nodes"
TOPOLOGY_PATH = "/api/v1/topology"

RESOURCES = ("cpu", "memory", "io")


BRIEF_S = 10.0
"""Who has not run longer than that is one of many programs that live for seconds."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the agent of a node cannot see."""

    what: str
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ResourceWait:
    some_10s: float
    """Percent of the last 10 s that some task waited."""


ResourceWaits = Mapping[str, ResourceWait | None]
"""By resource; None where nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWorkload:
    path: str
    name: str
    kind: str
    cpu_cores: Amount | None
    cpu_is_summed: bool
    """No counter is behind it: it is the sum of processes that were seen."""
    memory_bytes: int | None
    pressures: ResourceWaits


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProcess:
    pid: int
    workload: str
    """The path of its workload."""
    command: str
    script: str | None
    runtime: str | None
    runtime_version: str | None
    cpu_cores: Amount | None
    memory_bytes: int | None
    started_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFigures:
    kernel: str
    cpus: int | None
    cpu_cores: Amount | None
    memory_bytes: int | None
    memory_used_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMachine(MachineFigures):
    pressures: ResourceWaits
    throughput: Throughput | None = None
    file_systems: tuple[FileSystem, ...] = ()
    interfaces: tuple[NetworkInterface, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    name: str
    stale: bool
    age_s: float
    machine: ShownMachine
    namespaces: tuple[str, ...]
    """All that are there, whatever was asked for."""
    workloads: tuple[ShownWorkload, ...]
    processes: tuple[ShownProcess, ...]
    missing: tuple[Fact, ...]
    seen_at: float | None = None

    def lives_briefly(self, process: ShownProcess) -> bool:
        """Whether it had just started: most such programs have ended when somebody reads of them."""
        if self.seen_at is None or process.started_at is None:
            return False
        return self.seen_at - process.started_at < BRIEF_S

    def rows(self) -> Iterable[ShownWorkload | ShownProcess]:
        """Workloads by their place, each with its processes below it."""
        left: dict[str, list[ShownProcess]] = {}
        for process in self.processes:
            left.setdefault(process.workload, []).append(process)
        for workload in sorted(self.workloads, key=lambda each: each.path.split("/")):
            yield workload
            yield from left.pop(workload.path, ())
        for processes in left.values():
            yield from processes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSums(MachineFigures):
    waiting: Mapping[str, float | None]
    """As in `ResourceWait`, by resource."""
    processes: int | None


@dataclass(frozen=True, slots=True)
class NodeSummary:
    name: str
    stale: bool
    age_s: float
    sums: ShownSums


@dataclass(frozen=True, slots=True)
class _ListedNode:
    name: str
    stale: bool
    age_s: float | None
    sums: ShownSums | None


@dataclass(frozen=True, slots=True)
class ShownTopology:
    nodes: tuple[ShownNode, ...]


def decode_list(document: object) -> tuple[NodeSummary, ...]:
    """The nodes in *document* that have reported, or an `OperatorError` when it is not a list of nodes."""
    return tuple(
        NodeSummary(each.name, each.stale, each.age_s, each.sums)
        for each in understood(document, Listing[_ListedNode], "a list of nodes").items
        if each.age_s is not None and each.sums is not None
    )


def decode(document: object) -> tuple[ShownNode, ...]:
    """The nodes in *document*, or an `OperatorError` when it is not a topology."""
    return understood(document, ShownTopology, "a topology").nodes
