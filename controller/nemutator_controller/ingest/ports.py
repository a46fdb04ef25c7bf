"""What ingest needs from others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nemutator_common.wire import Batch, Envelope


@dataclass(frozen=True, slots=True)
class Stored:
    """What one batch changed."""

    before: int
    """The number up to which this epoch was stored already."""
    fresh: tuple[Envelope, ...]
    """Those that were new, now stored for good."""

    @property
    def seq(self) -> int:
        return self.fresh[-1].seq if self.fresh else self.before

    @property
    def lost(self) -> int:
        """Numbers that were never sent: the agent had to drop them."""
        return self.seq - self.before - len(self.fresh)


class ReportStore(Protocol):
    async def stored_up_to(self, node: str, epoch: str) -> int:
        """The number in the `Ack` so far; 0 when there is none."""
        ...

    async def store(self, batch: Batch, *, now: float) -> Stored:
        """Keep what is new in *batch*, all of it or nothing, and return when it is on disk."""
        ...


class NodesView(Protocol):
    def see(self, node: str, epoch: str, latest: Envelope, *, now: float) -> bool:
        """Show this report when it is newer than what is shown; False: there are too many nodes."""
        ...


def fresh_of(envelopes: Sequence[Envelope], *, after: int) -> tuple[Envelope, ...]:
    """Those of *envelopes* (in order) whose number is above *after*."""
    return tuple(envelope for envelope in envelopes if envelope.seq > after)
