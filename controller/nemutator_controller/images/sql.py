"""Digests of images in the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import image_digests


@dataclass(frozen=True, slots=True)
class SqlDigests:
    """A `KeptDigests`."""

    database: Database

    async def all(self) -> Mapping[str, str]:
        return await self.database.read(_all)

    async def keep(self, changed: Mapping[str, str | None]) -> None:
        await self.database.write(partial(_keep, changed=dict(changed)))


def _all(connection: Connection) -> dict[str, str]:
    rows = connection.execute(select(image_digests.c.image, image_digests.c.digest))
    return {row.image: row.digest for row in rows}


def _keep(connection: Connection, *, changed: Mapping[str, str | None]) -> None:
    column = image_digests.c.image
    connection.execute(delete(image_digests).where(column.in_(changed)))
    rows = [{"image": image, "digest": digest} for image, digest in changed.items() if digest]
    if rows:
        connection.execute(insert(image_digests), rows)
