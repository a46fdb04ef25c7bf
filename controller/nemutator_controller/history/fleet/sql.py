"""The history of each cluster, in the tables of its own schema. A `SavedHistories`."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common import names
from sqlalchemy import Connection, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.cluster_tables import OtherVersionError, clusters_with, read_of
from nemutator_controller.database.schema import history_rows, history_slices
from nemutator_controller.history.fleet.one_row import HeardRow, OtherFormError, cut
from nemutator_controller.history.slices import (
    LEVELS,
    PART,
    SavedRow,
    Slice,
    SliceName,
    UnreadableSliceError,
    unpacked,
)
from nemutator_controller.history.sql import KEY_COLUMNS, MakeKey

log = logging.getLogger(__name__)

READ_S = 20.0
"""A row's slices are some 600, which hold what is known of two thousand rows each."""

AT_ONCE = 16
"""Slices that are held at a time: half a megabyte."""


@dataclass(frozen=True, slots=True)
class SqlSavedHistories:
    database: Database
    cluster: str
    """Ours."""
    make_key: MakeKey

    async def rows(
        self, cluster: str, *, namespace: str | None = None, owner: str | None = None
    ) -> Sequence[HeardRow] | None:
        def job(connection: Connection) -> list[HeardRow] | None:
            if cluster not in clusters_with(connection, history_rows, ours=self.cluster):
                return None
            asked = select(history_rows).order_by(*(history_rows.c[one] for one in KEY_COLUMNS))
            if namespace is not None:
                asked = asked.where(history_rows.c.namespace == namespace)
            if owner is not None:
                asked = asked.where(history_rows.c.owner == owner)
            found = [
                SavedRow(
                    row["number"],
                    self.make_key(*(row[column] for column in KEY_COLUMNS)),
                    row["since_save"],
                )
                for row in read_of(connection, cluster, asked).mappings()
            ]
            heard = _heard_at(connection, cluster)
            return [HeardRow(one, heard.get(one.number, 0.0)) for one in found]

        try:
            return await self.database.read(job, deadline_s=READ_S)
        except OtherVersionError as error:
            raise OtherFormError(str(error)) from error

    async def slices(self, cluster: str, row: SavedRow) -> Sequence[Slice]:
        def job(connection: Connection) -> list[Slice]:
            found = []
            for level in LEVELS:
                asked = select(history_slices).where(
                    history_slices.c.level == level, history_slices.c.part == row.number // PART
                )
                for one in read_of(connection, cluster, asked, at_once=AT_ONCE).mappings():
                    try:
                        arrays = unpacked(one["packed"])
                    except UnreadableSliceError as error:
                        where = f"{cluster} {level} {one['cell']}"
                        told = {names.OBJECT: where, names.ERROR: error}
                        log.warning("history_unreadable", told)
                        continue
                    name = SliceName(level, one["part"], one["cell"])
                    whole = Slice(name, one["moment"], one["saved"], arrays)
                    if (part := cut(whole, row)) is not None:
                        found.append(part)
            return found

        try:
            return await self.database.read(job, deadline_s=READ_S)
        except OtherVersionError as error:
            raise OtherFormError(str(error)) from error


def _heard_at(connection: Connection, cluster: str) -> dict[int, float]:
    """By number of the row."""
    found = dict[int, float]()
    asked = select(history_slices.c.part, history_slices.c.packed).where(
        history_slices.c.level == "heard"
    )
    for one in read_of(connection, cluster, asked).mappings():
        try:
            heard = unpacked(one["packed"]).get("heard_at")
        except UnreadableSliceError:
            continue
        if heard is not None:
            found.update(enumerate(heard.tolist(), one["part"] * PART))
    return found
