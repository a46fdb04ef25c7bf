"""Points of hourly requests in the database, one row for each container."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nemutator_common import names
from sqlalchemy import Connection, bindparam, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import hourly_points
from nemutator_controller.sizing.hourly.points import (
    KeptHours,
    UnreadableHoursError,
    unpacked_points,
)
from nemutator_controller.sizing.keys import ContainerKey

log = logging.getLogger(__name__)

_KEY = ("namespace", "owner_kind", "owner", "container")
_DELETE = delete(hourly_points).where(
    *(hourly_points.c[column] == bindparam(f"the_{column}") for column in _KEY)
)


@dataclass(frozen=True, slots=True)
class SqlHourlyPoints:
    """A `HourlyStore`."""

    database: Database

    async def load(self) -> Mapping[ContainerKey, KeptHours]:
        return await self.database.read(_load)

    async def save(
        self, kept: Mapping[ContainerKey, KeptHours], gone: Collection[ContainerKey]
    ) -> None:
        replaced = [*kept, *gone]

        def job(connection: Connection) -> None:
            connection.execute(_DELETE, [_named(key, "the_") for key in replaced])
            if kept:
                connection.execute(
                    insert(hourly_points),
                    [
                        {
                            **_named(key),
                            "begin": one.points.begin,
                            "wanted_at": one.wanted_at,
                            "packed": one.points.packed(),
                        }
                        for key, one in kept.items()
                    ],
                )

        if replaced:
            await self.database.write(job)


def _load(connection: Connection) -> dict[ContainerKey, KeptHours]:
    found = {}
    for row in connection.execute(select(hourly_points)).mappings():
        key = ContainerKey(*(row[column] for column in _KEY))
        try:
            points = unpacked_points(row["begin"], row["packed"])
        except UnreadableHoursError as error:
            # It has another version's shape, or is damaged: its hours are gathered anew.
            owner = f"{key.namespace}/{key.owner}"
            log.warning("hourly_points_unreadable", {names.OBJECT: owner, names.ERROR: error})
            continue
        found[key] = KeptHours(points, row["wanted_at"])
    return found


def _named(key: ContainerKey, prefix: str = "") -> dict[str, str]:
    return {f"{prefix}{column}": getattr(key, column) for column in _KEY}
