"""The history in the database."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from nemutator_common.wire import Envelope
from sqlalchemy import Connection, Integer, cast, delete, func, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import history
from nemutator_controller.usage.history import Point, Series, point_of, thinning_step_s

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

    async def series(self, node: str, *, since: float) -> Series | None:
        return await self.database.read(partial(_series, node=node, since=since))

    async def drop_before(self, moment: float, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=moment, most=most))

    async def drop_oldest(self, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=None, most=most))

    async def count(self) -> int:
        return await self.database.read(_count)


def record(connection: Connection, node: str, envelopes: Sequence[Envelope]) -> None:
    """Add a point for each of *envelopes*, in the caller's transaction."""
    # Ignored: a second report for the same moment, from an agent whose clock was set back. Refusing
    # it would make the agent send it for ever.
    connection.execute(
        insert(history).prefix_with("OR IGNORE", dialect="sqlite"),
        [{"node": node} | asdict(point_of(envelope)) for envelope in envelopes],
    )


def make_room(connection: Connection) -> int:
    """Remove the oldest part of the history; returns the number of points."""
    return _drop(connection, before=None, most=max(_count(connection) // ROOM, LEAST_ROOM))


def _series(connection: Connection, *, node: str, since: float) -> Series | None:
    asked = (history.c.node == node, history.c.at >= since)
    points, last = connection.execute(
        select(func.count(), func.max(history.c.at)).where(*asked)
    ).one()
    if not points:
        known = connection.scalar(select(history.c.at).where(history.c.node == node).limit(1))
        return None if known is None else Series(node, None, ())
    step_s = thinning_step_s(points=points, span_s=last - since, most=MOST_POINTS)
    query = select(history.c.at, *columns).where(*asked)
    if step_s is not None:
        query = (
            select(func.max(history.c.at).label("at"), *map(func.avg, columns))
            .where(*asked)
            .group_by(cast((history.c.at - since) / step_s, Integer))
        )
    rows = connection.execute(query.order_by("at"))
    return Series(
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
