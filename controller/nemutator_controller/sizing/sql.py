"""Histograms in the database, one row for each container."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common import names
from sqlalchemy import Connection, bindparam, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import histograms
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage, UnreadableError, pack, unpack

log = logging.getLogger(__name__)

LOAD_S = 30.0
"""It is read once, before the first listener starts: 10 000 rows take a second."""


@dataclass(frozen=True, slots=True)
class SqlUsages:
    """A `UsageStore`."""

    database: Database

    async def load(self) -> Mapping[ContainerKey, SavedUsage]:
        return await self.database.read(_load, deadline_s=LOAD_S)

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        replaced = [*kept, *gone]

        def job(connection: Connection) -> None:
            connection.execute(_DELETE, [_named(key) for key in replaced])
            if kept:
                # Packed here, on the writer's thread: reports need the loop.
                connection.execute(insert(histograms), [_row(*item) for item in kept.items()])

        if replaced:
            await self.database.write(job)


def _load(connection: Connection) -> dict[ContainerKey, SavedUsage]:
    found = {}
    for row in connection.execute(select(histograms)).mappings():
        key = ContainerKey(row["namespace"], row["owner_kind"], row["owner"], row["container"])
        try:
            found[key] = unpack(
                row["packed"],
                points=row["points"],
                first_at=row["first_at"],
                last_at=row["last_at"],
                step_s=row["step_s"],
                heard_at=row["heard_at"],
            )
        except UnreadableError as error:
            # It has another version's shape, or is damaged: this container is learned anew.
            owner = f"{key.namespace}/{key.owner}"
            log.warning("histogram_unreadable", {names.OBJECT: owner, names.ERROR: error})
    return found


def _named(key: ContainerKey) -> dict[str, str]:
    return {
        "the_namespace": key.namespace,
        "the_kind": key.owner_kind,
        "the_owner": key.owner,
        "the_container": key.container,
    }


_DELETE = delete(histograms).where(
    histograms.c.namespace == bindparam("the_namespace"),
    histograms.c.owner_kind == bindparam("the_kind"),
    histograms.c.owner == bindparam("the_owner"),
    histograms.c.container == bindparam("the_container"),
)


def _row(key: ContainerKey, kept: SavedUsage) -> dict[str, object]:
    return {
        "namespace": key.namespace,
        "owner_kind": key.owner_kind,
        "owner": key.owner,
        "container": key.container,
        "points": kept.points,
        "first_at": kept.first_at,
        "last_at": kept.last_at,
        "step_s": kept.step_s,
        "heard_at": kept.heard_at,
        "packed": pack(kept),
    }
