"""The last report of each node: a fold over what arrives, bounded, in memory."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec
from nemutator_common.wire import LARGEST_BATCH_BYTES, Envelope, Report


class UnreadableReportError(ValueError):
    """The bytes are not a report as this version knows it."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node as it was last seen."""

    name: str
    epoch: str
    seq: int
    seen_at: float
    """When its report arrived, by the brain's clock: an agent's own may be wrong."""
    packed: bytes
    """The report, compressed: as objects those of 5 000 nodes are 5 GB, as this 0.1."""
    restored: bool = False
    """Read back from the disk; nothing has been heard since the brain started."""

    @property
    def report(self) -> Report:
        """Unpacked anew each time, which takes a millisecond or two for a full node."""
        return unpack(self.packed)

    def stale(self, now: float, *, after_s: float) -> bool:
        return self.restored or now - self.seen_at > after_s


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Report)


def pack(report: Report) -> bytes:
    """*report* without its summaries: they are learned from once, and nobody shows them."""
    report = replace(report, summaries=())
    return zlib.compress(_encoder.encode(report), level=1)


def unpack(packed: bytes) -> Report:
    """What `pack` kept of it; raises `UnreadableReportError`."""
    try:
        return _decoder.decode(zlib.decompressobj().decompress(packed, LARGEST_BATCH_BYTES))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise UnreadableReportError(str(error)) from error


class Nodes:
    """A `NodesView`. Within an epoch the highest number wins, in whatever order reports arrive;
    another epoch is another life of the agent, and the one that speaks now wins."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._nodes: dict[str, Node] = {}

    def see(self, node: str, epoch: str, latest: Envelope, *, now: float) -> bool:
        shown = self._nodes.get(node)
        if shown is None and len(self._nodes) >= self._most:
            return False
        if shown is None or shown.epoch != epoch or shown.seq < latest.seq:
            self._nodes[node] = Node(node, epoch, latest.seq, now, pack(latest.report))
        return True

    def heard_since(self, moment: float) -> int:
        return sum(node.seen_at >= moment for node in self._nodes.values())

    def restore(self, nodes: Iterable[Node]) -> None:
        """Show *nodes* where nothing newer is known, the last seen first while there is room."""
        for node in sorted(nodes, key=lambda node: -node.seen_at):
            if len(self._nodes) < self._most:
                self._nodes.setdefault(node.name, node)

    def forget(self, *, unseen_since: float) -> tuple[str, ...]:
        """Drop the nodes not seen since then, and name them."""
        gone = tuple(name for name, node in self._nodes.items() if node.seen_at < unseen_since)
        for name in gone:
            del self._nodes[name]
        return gone

    def all(self) -> tuple[Node, ...]:
        return tuple(self._nodes[name] for name in sorted(self._nodes))
