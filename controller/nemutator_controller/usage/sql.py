"""The history in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from nemutator_common.wire import Envelope
from sqlalchemy import Connection, delete, func, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import history
from nemutator_controller.database.statements import insert_new, whole_number
from nemutator_controller.usage.history import MachineSeries, Point, point_of, thinning_step_s

MOST_POINTS = 1_500
"""Points in one response: more than a screen has pixels, and enough for an hour of reports every 3 s."""

ROOM = 20
"""When the disk is full, one of so many points of history makes room."""

LEAST_ROOM = 200
"""At least so many do, so that whole pages of the file become free."""

columns = (history.c.cpu_cores, history.c.memory_used_bytes, history.c.cpu_pressure_10s)


@dataclass(frozen=True, slots=True)
class SqlHistory:
    """A `HistoryStore`."""

    database: Database

    async def series(self, node: str, *, since: float) -> MachineSeries | None:
        return await self.database.read(partial(_series, node=node, since=since))

    async def drop_before(self, moment: float, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=moment, most=most))

    async def drop_oldest(self, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=None, most=most))

    async def count(self) -> int:
        return await self.database.read(_count)


def record(connection: Connection, reports: Sequence[tuple[str, Envelope]]) -> None:
    """Add a point for each of *reports* of nodes, in the caller's transaction."""
    # Ignored: a second report for the same moment, from an agent whose clock was set back. Refusing
    # it would make the agent send it for ever.
    points = [(node, point_of(envelope)) for node, envelope in reports]
    insert_new(
        connection,
        history,
        [
            {
                "node": node,
                "at": point.at,
                "cpu_cores": point.cpu_cores,
                "memory_used_bytes": point.memory_used_bytes,
                "cpu_pressure_10s": point.cpu_pressure_10s,
            }
            for node, point in points
        ],
    )


def make_room(connection: Connection) -> int:
    """Remove the oldest part of the history; returns the number of points."""
    return _drop(connection, before=None, most=max(_count(connection) // ROOM, LEAST_ROOM))


def _series(connection: Connection, *, node: str, since: float) -> MachineSeries | None:
    asked = (history.c.node == node, history.c.at >= since)
    points, last = connection.execute(
        select(func.count(), func.max(history.c.at)).where(*asked)
    ).one()
    if not points:
        known = connection.scalar(select(history.c.at).where(history.c.node == node).limit(1))
        return None if known is None else MachineSeries(node, None, ())
    step_s = thinning_step_s(points=points, span_s=last - since, most=MOST_POINTS)
    query = select(history.c.at, *columns).where(*asked)
    if step_s is not None:
        query = (
            select(func.max(history.c.at).label("at"), *map(func.avg, columns))
            .where(*asked)
            .group_by(whole_number((history.c.at - since) / step_s))
        )
    rows = connection.execute(query.order_by("at"))
    return MachineSeries(
        node,
        step_s,
        tuple(Point(at, cpu, round(memory), pressure) for at, cpu, memory, pressure in rows),
    )


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(history)) or 0


def _drop(connection: Connection, *, before: float | None, most: int) -> int:
    oldest = select(history.c.at).order_by(history.c.at).limit(most)
    if before is not None:
        oldest = oldest.where(history.c.at < before)
    newest_of_them = select(func.max(oldest.subquery().c.at)).scalar_subquery()
    return connection.execute(delete(history).where(history.c.at <= newest_of_them)).rowcount
