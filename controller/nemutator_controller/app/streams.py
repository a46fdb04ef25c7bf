"""Numbered streams, put together: records that agents and admission send, to whom stores them."""

from collections.abc import Mapping

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream
from nemutator_controller.ingest.endpoint import Streams
from nemutator_controller.ingest.receiving import StreamReceiver
from nemutator_controller.ingest.sql import SqlStreams


def streams_part(context: BrainContext, streams: Mapping[str, StoredStream]) -> Part:
    writers = {name: stream.writer for name, stream in streams.items()}
    handlers = {name: stream.handler for name, stream in streams.items()}
    receiver = StreamReceiver(SqlStreams(context.database, handlers), writers, context.process)
    return Part(uplink=Streams(receiver, context.process.meter).routes())
