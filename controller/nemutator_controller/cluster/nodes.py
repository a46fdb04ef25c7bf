"""The last report of each node: a fold over what arrives, bounded, in memory."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import msgspec
from nemutator_common.wire import LARGEST_BATCH_BYTES, Envelope, Pressure, Report


class UnreadableReportError(ValueError):
    """The bytes are not a report as this version knows it."""


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
    """The report, compressed: those of 5 000 nodes take 5 GB as objects, and 0.1 GB like this."""
    sums: NodeSums
    """Computed when the report arrives, because a list of 5 000 nodes cannot unpack each."""
    restored: bool = False
    """Read back from the disk; it has not reported since the brain started."""

    @property
    def report(self) -> Report:
        """Unpacked anew each time, which takes a millisecond or two for a full node."""
        return unpack(self.packed)

    @classmethod
    def of(cls, name: str, epoch: str, seq: int, seen_at: float, report: Report) -> Self:
        return cls(name, epoch, seq, seen_at, pack(report), sums_of(report))

    def age_s(self, now: float) -> float:
        """Never negative, even after a clock was set back."""
        return max(0.0, now - self.seen_at)

    def stale(self, now: float, *, after_s: float) -> bool:
        return self.restored or now - self.seen_at > after_s


def sums_of(report: Report) -> NodeSums:
    machine = report.machine
    pressures = machine.pressures
    return NodeSums(
        kernel=machine.kernel,
        cpus=machine.cpus,
        cpu_cores=machine.cpu_cores,
        memory_bytes=machine.memory_bytes,
        memory_used_bytes=machine.memory_used_bytes,
        waiting=Waiting(*map(_some_10s, (pressures.cpu, pressures.memory, pressures.io))),
        workloads=len(report.workloads),
        processes=len(report.processes),
        missing=len(report.missing),
    )


def _some_10s(pressure: Pressure | None) -> float | None:
    return None if pressure is None else pressure.some_10s


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Report)


def pack(report: Report) -> bytes:
    """*report* without its summaries, which are learned from once and not shown."""
    report = replace(report, summaries=())
    return zlib.compress(_encoder.encode(report), level=1)


def unpack(packed: bytes) -> Report:
    """The report that `pack` made *packed* of; raises `UnreadableReportError`."""
    try:
        return _decoder.decode(zlib.decompressobj().decompress(packed, LARGEST_BATCH_BYTES))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise UnreadableReportError(str(error)) from error


class Nodes:
    """A `NodesView`. Within an epoch the highest number wins, in whatever order reports arrive;
    another epoch is another life of the agent, and the one that reports now wins."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._nodes: dict[str, ReportedNode] = {}

    def see(self, node: str, epoch: str, latest: Envelope, *, now: float) -> bool:
        shown = self._nodes.get(node)
        if shown is None and len(self._nodes) >= self._most:
            return False
        if shown is None or shown.epoch != epoch or shown.seq < latest.seq:
            self._nodes[node] = ReportedNode.of(node, epoch, latest.seq, now, latest.report)
        return True

    def heard_since(self, moment: float) -> int:
        return sum(node.seen_at >= moment for node in self._nodes.values())

    def restore(self, nodes: Iterable[ReportedNode]) -> None:
        """Show *nodes* where nothing newer is known, the last seen first while there is room."""
        for node in sorted(nodes, key=lambda node: -node.seen_at):
            if len(self._nodes) < self._most:
                self._nodes.setdefault(node.name, node)

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
