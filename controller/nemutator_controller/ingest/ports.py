"""What ingest needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_common.wire import Batch, Envelope, StreamBatch
from nemutator_common.wire_columns import PackedReport

from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.usage_points import NodePoints


class ReportStore(Protocol):
    async def stored_up_to(self, node: str, epoch: str) -> int:
        """The number in the `Ack` so far; 0 when there is none."""
        ...

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        """Keep what is new in *batch*, all of it or nothing, and return when it is on disk."""
        ...


class NodesView(Protocol):
    def see(
        self,
        node: str,
        epoch: str,
        latest: Envelope,
        *,
        now: float,
        packed: PackedReport | None = None,
    ) -> bool:
        """Show this report if it is newer than the last one; False when there are too many nodes.
        *packed* is all of it, where *latest* has its machine alone."""
        ...

    def heard_since(self, moment: float) -> int:
        """How many nodes have reported since then."""
        ...


class UsageConsumer(Protocol):
    """Learns from what was used."""

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        """Take in what was new of several nodes at *now*, by the brain's clock: all of it at once, because
        numpy takes nearly as long for the arrays of one report as for those of fifty.

        It is called once that is stored, and never twice for one report.
        """
        ...


class StreamStore(Protocol):
    async def stored_up_to(self, stream: str, writer: str, epoch: str) -> int:
        """The number in the `Ack` so far; 0 when there is none."""
        ...

    async def store(
        self, stream: str, batch: StreamBatch, *, now: float
    ) -> Stored[dict[str, object]]:
        """Keep what is new in *batch*, all of it or nothing; RefusedBatchError when it is wrong."""
        ...
