"""The last picture of each node in the database, compressed."""

import logging
import zlib
from collections.abc import Sequence

import msgspec
from nemutator_common import names
from nemutator_common.wire import LARGEST_BATCH_BYTES, Report
from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.cluster.nodes import Node
from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import latest

log = logging.getLogger(__name__)

_decoder = msgspec.json.Decoder(Report)


class SqlLatest:
    """A `LatestStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> Sequence[Node]:
        return await self._database.read(_load)

    async def save(self, nodes: Sequence[Node]) -> None:
        def job(connection: Connection) -> None:
            _forget(connection, [node.name for node in nodes])
            connection.execute(insert(latest), [_row(node) for node in nodes])

        await self._database.write(job)

    async def forget(self, gone: Sequence[str]) -> None:
        await self._database.write(lambda connection: _forget(connection, gone))


def _load(connection: Connection) -> list[Node]:
    nodes = []
    for name, epoch, seq, seen_at, packed in connection.execute(select(latest)):
        try:
            report = _decoder.decode(zlib.decompressobj().decompress(packed, LARGEST_BATCH_BYTES))
        except (zlib.error, msgspec.MsgspecError) as error:
            # An older version may have kept another shape. The next report replaces it.
            log.warning("picture_unreadable", {names.NODE: name, names.ERROR: error})
            continue
        nodes.append(Node(name, epoch, seq, seen_at, report, restored=True))
    return nodes


def _forget(connection: Connection, gone: Sequence[str]) -> None:
    connection.execute(delete(latest).where(latest.c.node.in_(gone)))


def _row(node: Node) -> dict[str, object]:
    return {
        "node": node.name,
        "epoch": node.epoch,
        "seq": node.seq,
        "seen_at": node.seen_at,
        "report": zlib.compress(msgspec.json.encode(node.report), level=1),
    }
