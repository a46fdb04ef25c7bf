"""The last report of each node in the database, as it is kept in memory: compressed."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from nemutator_common import names
from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.cluster.nodes import ReportedNode, sums_of
from nemutator_controller.cluster.packed_reports import UnreadableReportError, unpack
from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import latest

log = logging.getLogger(__name__)

STEP = 200
"""Nodes in one read: each report is unpacked, to be sure that it can be shown."""


@dataclass(frozen=True, slots=True)
class SqlLatest:
    """A `LatestStore`."""

    database: Database

    async def load(self, *, seen_since: float = 0.0) -> Sequence[ReportedNode]:
        nodes: list[ReportedNode] = []
        after = ""
        while True:
            found, last = await self.database.read(partial(_load, after=after, since=seen_since))
            nodes += found
            if last is None:
                return nodes
            after = last

    async def save(self, nodes: Sequence[ReportedNode]) -> None:
        def job(connection: Connection) -> None:
            _forget(connection, [node.name for node in nodes])
            connection.execute(insert(latest), [_row(node) for node in nodes])

        await self.database.write(job)

    async def forget(self, gone: Sequence[str]) -> None:
        await self.database.write(lambda connection: _forget(connection, gone))


def _load(
    connection: Connection, *, after: str, since: float
) -> tuple[list[ReportedNode], str | None]:
    """A step of the nodes in the order of their names, and where the next one begins."""
    columns = (latest.c.node, latest.c.epoch, latest.c.seq, latest.c.seen_at, latest.c.report)
    query = (
        select(*columns)
        .where(latest.c.node > after, latest.c.seen_at >= since)
        .order_by(latest.c.node)
        .limit(STEP)
    )
    rows = connection.execute(query).all()
    nodes = []
    for name, epoch, seq, seen_at, packed in rows:
        try:
            report = unpack(packed)
        except UnreadableReportError as error:
            # An older version may have saved another shape. The next report replaces it.
            log.warning("node_unreadable", {names.NODE: name, names.ERROR: error})
            continue
        shown = packed, sums_of(report), report.machine, report.taken_at
        nodes.append(ReportedNode(name, epoch, seq, seen_at, *shown, restored=True))
    return nodes, rows[-1][0] if len(rows) == STEP else None


def _forget(connection: Connection, gone: Sequence[str]) -> None:
    connection.execute(delete(latest).where(latest.c.node.in_(gone)))


def _row(node: ReportedNode) -> dict[str, object]:
    return {
        "node": node.name,
        "epoch": node.epoch,
        "seq": node.seq,
        "seen_at": node.seen_at,
        "report": node.packed,
    }
