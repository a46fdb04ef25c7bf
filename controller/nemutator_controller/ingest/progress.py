"""What a batch adds to what is stored of its epoch already."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common.wire import Envelope


@dataclass(frozen=True, slots=True)
class Stored:
    """What one batch changed."""

    before: int
    """The number up to which this epoch was stored already."""
    fresh: tuple[Envelope, ...]
    """Those that were new; now they are stored for good."""

    @property
    def seq(self) -> int:
        return self.fresh[-1].seq if self.fresh else self.before

    @property
    def lost(self) -> int:
        """Numbers that were never sent: the agent had to drop them."""
        return self.seq - self.before - len(self.fresh)


def fresh_of(envelopes: Sequence[Envelope], *, after: int) -> tuple[Envelope, ...]:
    """Those of *envelopes* (in order) whose number is above *after*."""
    return tuple(envelope for envelope in envelopes if envelope.seq > after)
