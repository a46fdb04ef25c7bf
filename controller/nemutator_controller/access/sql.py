"""Sessions of browsers in the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.access.one_time_links import MOST_SESSIONS
from nemutator_controller.access.sessions import Session
from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import sessions


@dataclass(frozen=True, slots=True)
class SqlSessions:
    """A `SessionStore`."""

    database: Database

    async def load(self, *, now: float) -> Sequence[Session[None]]:
        newest = (
            select(sessions)
            .where(sessions.c.expires_at > now)
            .order_by(sessions.c.expires_at.desc())
            .limit(MOST_SESSIONS)
        )

        def job(connection: Connection) -> list[Session[None]]:
            return [
                Session(digest, expires, None) for digest, expires in connection.execute(newest)
            ]

        return await self.database.read(job)

    async def save(self, session: Session[None], *, now: float) -> None:
        def job(connection: Connection) -> None:
            connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
            connection.execute(
                insert(sessions).values(digest=session.digest, expires_at=session.expires_at)
            )

        await self.database.write(job)
