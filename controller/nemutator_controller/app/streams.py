"""Numbered streams, put together: records that agents and admission send, to whom stores them."""

from collections.abc import Mapping

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part
from nemutator_controller.ingest.endpoint import Streams
from nemutator_controller.ingest.receiving import StreamReceiver
from nemutator_controller.ingest.sql import SqlStreams, StreamHandler


def streams_part(context: BrainContext, handlers: Mapping[str, StreamHandler]) -> Part:
    """*handlers* by stream."""
    receiver = StreamReceiver(SqlStreams(context.database, handlers), context.process)
    return Part(uplink=Streams(receiver, handlers, context.process.meter).routes())
