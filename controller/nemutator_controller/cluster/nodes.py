"""The last report of each node: a fold over what arrives, bounded, in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

from nemutator_common.wire import Envelope, Machine, Missing, Pressure, Report
from nemutator_common.wire_columns import PackedReport

from nemutator_controller.cluster.packed_reports import (
    ChosenPart,
    UnreadableReportError,
    pack,
    unpack,
    unpack_part,
)

REMEDY = "wait for the next report, then restart the agent of this node"

SILENT_S = 600.0
"""A node that was not heard of for so long makes room for another one, where there is none."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Percent of the last 10 s that some task waited for each resource; None: not known."""

    cpu: float | None
    memory: float | None
    io: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSums:
    """What a list of nodes shows of each."""

    kernel: str
    cpus: int
    cpu_cores: float | None
    memory_bytes: int
    memory_used_bytes: int
    waiting: Waiting
    workloads: int
    processes: int
    missing: int
    """Facts that its agent could not get."""


@dataclass(frozen=True, slots=True)
class ReportedNode:
    """One node as it was last seen."""

    name: str
    epoch: str
    seq: int
    seen_at: float
    """When its report arrived, by the brain's clock: an agent's own may be wrong."""
    packed: bytes
    """The report, compressed: those of 5 000 nodes take 5 GB as objects, and 0.1 GB like this. Its agent
    has compressed it, and nobody has looked into it."""
    sums: NodeSums
    """Computed when the report arrives, because a list of 5 000 nodes cannot unpack each."""
    machine: Machine
    taken_at: float
    restored: bool = False
    """Read back from the disk; it has not reported since the brain started."""

    @property
    def report(self) -> Report:
        """Unpacked anew each time, which takes a millisecond or two for a full node. One that cannot
        be read shows the machine, and why there is no more."""
        return self._opened(unpack)

    def part(self, choose: ChosenPart) -> Report:
        """The report with the workloads that *choose* wants and their processes: the rest is not examined, which would take
        as long as to unpack it."""
        return self._opened(lambda packed: unpack_part(packed, choose))

    def _opened(self, open_packed: Callable[[bytes], Report]) -> Report:
        try:
            return open_packed(self.packed)
        except UnreadableReportError as error:
            return Report(
                taken_at=self.taken_at,
                machine=self.machine,
                workloads=(),
                processes=(),
                missing=(Missing("what runs here", f"the report is unreadable: {error}", REMEDY),),
            )

    @classmethod
    def of(cls, name: str, epoch: str, seq: int, seen_at: float, report: Report) -> Self:
        return cls(
            name,
            epoch,
            seq,
            seen_at,
            pack(report),
            sums_of(report),
            report.machine,
            report.taken_at,
        )

    @classmethod
    def packed_by_its_agent(
        cls, name: str, epoch: str, seq: int, seen_at: float, packed: PackedReport
    ) -> Self:
        head = packed.head
        sums = _sums(head.machine, head.workloads, head.processes, head.missing)
        return cls(name, epoch, seq, seen_at, packed.snapshot, sums, head.machine, head.taken_at)

    def age_s(self, now: float) -> float:
        """Never negative, even after a clock was set back."""
        return max(0.0, now - self.seen_at)

    def stale(self, now: float, *, after_s: float) -> bool:
        return self.restored or now - self.seen_at > after_s


def sums_of(report: Report) -> NodeSums:
    return _sums(report.machine, len(report.workloads), len(report.processes), len(report.missing))


def _sums(machine: Machine, workloads: int, processes: int, missing: int) -> NodeSums:
    pressures = machine.pressures
    return NodeSums(
        kernel=machine.kernel,
        cpus=machine.cpus,
        cpu_cores=machine.cpu_cores,
        memory_bytes=machine.memory_bytes,
        memory_used_bytes=machine.memory_used_bytes,
        waiting=Waiting(*map(_some_10s, (pressures.cpu, pressures.memory, pressures.io))),
        workloads=workloads,
        processes=processes,
        missing=missing,
    )


def _some_10s(pressure: Pressure | None) -> float | None:
    return None if pressure is None else pressure.some_10s


class Nodes:
    """A `NodesView`. Within an epoch the highest number wins, in whatever order reports arrive;
    another epoch is another life of the agent, and the one that reports now wins."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._nodes: dict[str, ReportedNode] = {}

    def see(
        self,
        node: str,
        epoch: str,
        latest: Envelope,
        *,
        now: float,
        packed: PackedReport | None = None,
    ) -> bool:
        shown = self._nodes.get(node)
        if shown is None and len(self._nodes) >= self._most and not self._make_room(now=now):
            return False
        if shown is None or shown.epoch != epoch or shown.seq < latest.seq:
            place = node, epoch, latest.seq, now
            self._nodes[node] = (
                ReportedNode.of(*place, latest.report)
                if packed is None
                else ReportedNode.packed_by_its_agent(*place, packed)
            )
        return True

    def _make_room(self, *, now: float) -> bool:
        """Whether a node that is long silent has made room."""
        oldest = min(self._nodes.values(), key=lambda node: node.seen_at, default=None)
        if oldest is None or now - oldest.seen_at < SILENT_S:
            return False
        del self._nodes[oldest.name]
        return True

    def heard_since(self, moment: float) -> int:
        return sum(node.seen_at >= moment for node in self._nodes.values())

    def restore(self, nodes: Iterable[ReportedNode]) -> None:
        """Show *nodes* where nothing newer is known, the last seen first while there is room."""
        for node in sorted(nodes, key=lambda node: -node.seen_at):
            if len(self._nodes) < self._most:
                self._nodes.setdefault(node.name, node)

    def show(self, nodes: Iterable[ReportedNode]) -> None:
        """Show *nodes*, which another brain has saved, where nothing newer is known."""
        for node in nodes:
            shown = self._nodes.get(node.name)
            if shown is None and len(self._nodes) >= self._most:
                continue
            if shown is None or shown.seen_at < node.seen_at:
                self._nodes[node.name] = replace(node, restored=False)

    def forget(self, *, silent_since: float) -> tuple[str, ...]:
        """Drop the nodes not seen since then, and name them."""
        gone = tuple(name for name, node in self._nodes.items() if node.seen_at < silent_since)
        for name in gone:
            del self._nodes[name]
        return gone

    def named(self, name: str) -> tuple[ReportedNode, ...]:
        """The node of this name; none when it has not reported."""
        return (self._nodes[name],) if name in self._nodes else ()

    def all(self) -> tuple[ReportedNode, ...]:
        return tuple(self._nodes[name] for name in sorted(self._nodes))
