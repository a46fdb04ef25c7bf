"""The names of live policies in the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import live_policies


@dataclass(frozen=True, slots=True)
class SqlLivePolicies:
    """A `RememberedPolicies`."""

    database: Database

    async def all(self) -> Mapping[str, float]:
        return await self.database.read(_all)

    async def replace(self, remembered: Mapping[str, float]) -> None:
        await self.database.write(partial(_replace, remembered=dict(remembered)))


def _all(connection: Connection) -> dict[str, float]:
    rows = connection.execute(select(live_policies.c.name, live_policies.c.since))
    return {row.name: row.since for row in rows}


def _replace(connection: Connection, *, remembered: Mapping[str, float]) -> None:
    connection.execute(delete(live_policies))
    rows = [{"name": name, "since": since} for name, since in remembered.items()]
    if rows:
        connection.execute(insert(live_policies), rows)
