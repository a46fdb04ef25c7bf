"""Grants and leases in the database."""

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

from nemutator_common.process import Process
from nemutator_common.wire import Grant
from sqlalchemy import Connection, Select, delete, func, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import grants, leases
from nemutator_controller.grants.records import grants_of
from nemutator_controller.grants.token_leases import TokenLease, fold

MOST_GRANTS = 100_000
KEPT_S = 30 * 86_400.0
MOST_LEASES = 20_000
ENDED_KEPT_S = 86_400.0
"""An ended lease is shown for a day, so that people see that it did end."""

_GRANT = tuple(grants.c[field.name] for field in fields(Grant))
_LEASE = tuple(leases.c[field.name] for field in fields(TokenLease))
_KEY = ("node", "pod_uid", "role", "caller")


@dataclass(frozen=True, slots=True)
class SqlGrants:
    """`record` is the handler of the stream "grants"; the rest is a `GrantsView`."""

    database: Database
    process: Process

    def record(
        self, connection: Connection, writer: str, records: Sequence[dict[str, object]]
    ) -> None:
        """Save *records* of *writer*, in the caller's transaction; ValueError: one is wrong."""
        now = self.process.clock.now()
        fresh = list(grants_of(writer, records, now=now))
        connection.execute(insert(grants), [asdict(grant) for grant in fresh])
        for grant in fresh:
            _follow(connection, grant)
        _prune(connection, now=now)

    async def leases(
        self,
        *,
        namespace: str | None,
        pod_uids: Collection[str] | None,
        limit: int,
        expired_by: float | None = None,
    ) -> Sequence[TokenLease]:
        query = select(*_LEASE).order_by(leases.c.touched_at.desc()).limit(limit)
        if expired_by is not None:
            query = query.where(~leases.c.revoked, leases.c.expires_at <= expired_by)
        if namespace is not None:
            query = query.where(leases.c.namespace == namespace)
        if pod_uids is not None:
            query = query.where(leases.c.pod_uid.in_(pod_uids))
        rows = await self.database.read(partial(_rows, query=query))
        return [TokenLease(**row) for row in rows]

    async def grants(
        self,
        *,
        namespace: str | None,
        pod_uids: Collection[str] | None,
        digests: Sequence[str] | None,
        limit: int,
        refused: bool = False,
        since: float = -math.inf,
    ) -> Sequence[Grant]:
        query = select(*_GRANT).order_by(grants.c.id.desc()).limit(limit)
        if refused:
            query = query.where(grants.c.result != "granted")
        if since > -math.inf:
            query = query.where(grants.c.at >= since)
        if digests is not None:
            query = query.where(grants.c.path_digest.in_(digests))
        if namespace is not None:
            query = query.where(grants.c.namespace == namespace)
        if pod_uids is not None:
            query = query.where(grants.c.pod_uid.in_(pod_uids))
        rows = await self.database.read(partial(_rows, query=query))
        return [Grant(**row) for row in rows]

    async def rotated(self, pod_uids: Collection[str]) -> Collection[tuple[str, str]]:
        """Node and uid of those pods that had read a secret before it changed."""
        query = (
            select(grants.c.node, grants.c.pod_uid)
            .where(grants.c.operation == "rotate", grants.c.result == "granted")
            .distinct()
        )
        rows = await self.database.read(partial(_rows, query=query))
        found = ((row["node"], row["pod_uid"]) for row in rows)
        return {(node, uid) for node, uid in found if uid in pod_uids}


def _rows(connection: Connection, *, query: Select[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query).mappings()]


def _follow(connection: Connection, grant: Grant) -> None:
    if grant.operation not in {"login", "renew", "revoke"}:
        return
    same = [leases.c[column] == getattr(grant, column) for column in _KEY]
    row = connection.execute(select(*_LEASE).where(*same)).mappings().first()
    before = None if row is None else TokenLease(**row)
    after = fold(before, grant)
    if after is None or after == before:
        return
    if before is None:
        connection.execute(insert(leases).values(**asdict(after)))
    else:
        connection.execute(update(leases).where(*same).values(**asdict(after)))


def _prune(connection: Connection, *, now: float) -> None:
    newest = connection.scalar(select(func.max(grants.c.id))) or 0
    connection.execute(
        delete(grants).where((grants.c.id <= newest - MOST_GRANTS) | (grants.c.at < now - KEPT_S))
    )
    over = now - ENDED_KEPT_S
    connection.execute(
        delete(leases).where(
            (leases.c.expires_at < over) | (leases.c.revoked & (leases.c.touched_at < over))
        )
    )
    surplus = select(leases.c.touched_at).order_by(leases.c.touched_at.desc()).offset(MOST_LEASES)
    last = connection.scalar(surplus.limit(1))
    if last is not None:
        connection.execute(delete(leases).where(leases.c.touched_at <= last))
