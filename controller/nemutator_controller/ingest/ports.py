"""What ingest needs from others."""

from typing import Protocol

from nemutator_common.wire import Batch, Envelope, StreamBatch

from nemutator_controller.ingest.progress import Stored


class ReportStore(Protocol):
    async def stored_up_to(self, node: str, epoch: str) -> int:
        """The number in the `Ack` so far; 0 when there is none."""
        ...

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        """Keep what is new in *batch*, all of it or nothing, and return when it is on disk."""
        ...


class NodesView(Protocol):
    def see(self, node: str, epoch: str, latest: Envelope, *, now: float) -> bool:
        """Show this report if it is newer than the last one; False when there are too many nodes."""
        ...

    def heard_since(self, moment: float) -> int:
        """How many nodes have reported since then."""
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
