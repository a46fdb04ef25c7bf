"""Histograms in the database, one row for each container."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nemutator_common import names
from sqlalchemy import Connection, Select, bindparam, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import histograms
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage, UnreadableError, pack_all, unpack

log = logging.getLogger(__name__)

LOAD_S = 30.0
"""It is read once, before the first listener starts: 10 000 rows take a second."""


@dataclass(frozen=True, slots=True)
class SqlUsages:
    """A `UsageStore`."""

    database: Database

    async def load(self) -> Mapping[ContainerKey, SavedUsage]:
        load = partial(usages_in, query=select(histograms))
        return await self.database.read(load, deadline_s=LOAD_S)

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        replaced = [*kept, *gone]

        def job(connection: Connection) -> None:
            # Packed here, on the writer's thread: reports need the loop.
            replace_rows(connection, packed_rows(kept), replaced)

        if replaced:
            await self.database.write(job)


_KEY = ("namespace", "owner_kind", "owner", "container")
_FIGURES = ("points", "first_at", "last_at", "step_s", "heard_at")

_DELETE = delete(histograms).where(
    *(histograms.c[column] == bindparam(f"the_{column}") for column in _KEY)
)


def usages_in(connection: Connection, *, query: Select[Any]) -> dict[ContainerKey, SavedUsage]:
    """What the rows of *query* hold, by the container of each."""
    found = {}
    for row in connection.execute(query).mappings():
        key = ContainerKey(*(row[column] for column in _KEY))
        try:
            found[key] = unpack(row["packed"], **{column: row[column] for column in _FIGURES})
        except UnreadableError as error:
            # It has another version's shape, or is damaged: this container is learned anew.
            owner = f"{key.namespace}/{key.owner}"
            log.warning("histogram_unreadable", {names.OBJECT: owner, names.ERROR: error})
    return found


def replace_rows(
    connection: Connection,
    rows: Sequence[Mapping[str, object]],
    replaced: Iterable[ContainerKey],
) -> None:
    """Put *rows* in the place of what is there of *replaced*."""
    if keys := [_named(key) for key in replaced]:
        connection.execute(_DELETE, keys)
    if rows:
        connection.execute(insert(histograms), list(rows))


def _named(key: ContainerKey) -> dict[str, str]:
    return {f"the_{column}": getattr(key, column) for column in _KEY}


def packed_rows(kept: Mapping[ContainerKey, SavedUsage]) -> list[dict[str, object]]:
    return [
        {
            **{column: getattr(key, column) for column in _KEY},
            **{column: getattr(one, column) for column in _FIGURES},
            "packed": packed,
        }
        for (key, one), packed in zip(kept.items(), pack_all([*kept.values()]), strict=True)
    ]
