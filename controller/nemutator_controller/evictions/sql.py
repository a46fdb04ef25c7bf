"""Requests to evict pods, in the database, with what became of each pod."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import eviction_requests, requested_evictions
from nemutator_controller.evictions.records import (
    OPEN,
    EvictionRequest,
    EvictionState,
    RequestedEviction,
)

_REQUEST = msgspec.json.Decoder(EvictionRequest)
_EVICTION = msgspec.json.Decoder(RequestedEviction)

Progress = tuple[EvictionRequest, list[RequestedEviction]]
Counts = tuple[EvictionRequest, dict[EvictionState, int]]


@dataclass(frozen=True, slots=True)
class SqlEvictions:
    """An `EvictionStore`."""

    database: Database

    async def add(self, request: EvictionRequest, evictions: Sequence[RequestedEviction]) -> None:
        await self.database.write(partial(_add, request=request, evictions=evictions))

    async def save(self, evictions: Sequence[RequestedEviction]) -> None:
        await self.database.write(partial(_save, evictions=evictions))

    async def unfinished(self) -> Sequence[Progress]:
        return await self.database.read(_unfinished)

    async def evicted_since(self, moment: float) -> Sequence[RequestedEviction]:
        columns = requested_evictions.c
        query = (
            select(columns.document)
            .where(columns.state == "evicted", columns.at >= moment)
            .order_by(columns.at)
        )
        return await self.database.read(partial(_evictions, query=query))

    async def requests(self, *, namespace: str | None, limit: int) -> Sequence[Counts]:
        return await self.database.read(partial(_requests, namespace=namespace, limit=limit))

    async def request(self, id_: str, *, namespace: str | None) -> Progress | None:
        return await self.database.read(partial(_request, id_=id_, namespace=namespace))

    async def drop_before(self, moment: float, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=moment, most=most))

    async def drop_oldest(self, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=None, most=most))

    async def count(self) -> int:
        return await self.database.read(_count)


def _add(
    connection: Connection, *, request: EvictionRequest, evictions: Sequence[RequestedEviction]
) -> None:
    document = msgspec.json.encode(request)
    connection.execute(
        insert(eviction_requests).values(id=request.id, at=request.at, document=document)
    )
    rows = [
        {
            "request": each.request,
            "uid": each.pod.uid,
            "namespace": each.pod.namespace,
            **_changing(each),
        }
        for each in evictions
    ]
    if rows:
        connection.execute(insert(requested_evictions), rows)


def _save(connection: Connection, *, evictions: Sequence[RequestedEviction]) -> None:
    columns = requested_evictions.c
    mine = (columns.request == bindparam("of_request")) & (columns.uid == bindparam("of_uid"))
    rows = [
        {"of_request": each.request, "of_uid": each.pod.uid, **_changing(each)}
        for each in evictions
    ]
    connection.execute(update(requested_evictions).where(mine), rows)


def _changing(eviction: RequestedEviction) -> dict[str, Any]:
    # Labels chose the pod, and are of no use after that.
    kept = replace(eviction, pod=replace(eviction.pod, labels={}))
    return {"state": kept.state, "at": kept.at, "document": msgspec.json.encode(kept)}


def _unfinished(connection: Connection) -> list[Progress]:
    columns = requested_evictions.c
    query = select(columns.document).where(columns.state.in_(OPEN))
    found: dict[str, list[RequestedEviction]] = {}
    for each in _evictions(connection, query=query):
        found.setdefault(each.request, []).append(each)
    requests = (
        select(eviction_requests.c.document)
        .where(eviction_requests.c.id.in_(found))
        .order_by(eviction_requests.c.at, eviction_requests.c.id)
    )
    return [
        (request, found[request.id])
        for request in map(_REQUEST.decode, connection.scalars(requests))
    ]


def _evictions(connection: Connection, *, query: Select[Any]) -> list[RequestedEviction]:
    return [_EVICTION.decode(document) for document in connection.scalars(query)]


def _requests(connection: Connection, *, namespace: str | None, limit: int) -> list[Counts]:
    columns = requested_evictions.c
    query = (
        select(eviction_requests.c.document)
        .order_by(eviction_requests.c.at.desc(), eviction_requests.c.id)
        .limit(limit)
    )
    if namespace is not None:
        there = select(columns.request).where(columns.namespace == namespace)
        query = query.where(eviction_requests.c.id.in_(there))
    requests = [_REQUEST.decode(document) for document in connection.scalars(query)]
    counting = (
        select(columns.request, columns.state, func.count())
        .where(columns.request.in_([each.id for each in requests]))
        .group_by(columns.request, columns.state)
    )
    if namespace is not None:
        counting = counting.where(columns.namespace == namespace)
    counts: dict[str, dict[EvictionState, int]] = {each.id: {} for each in requests}
    for request, state, number in connection.execute(counting):
        counts[request][state] = number
    return [(each, counts[each.id]) for each in requests]


def _request(connection: Connection, *, id_: str, namespace: str | None) -> Progress | None:
    document = connection.scalar(
        select(eviction_requests.c.document).where(eviction_requests.c.id == id_)
    )
    if document is None:
        return None
    columns = requested_evictions.c
    query = select(columns.document).where(columns.request == id_)
    if namespace is not None:
        query = query.where(columns.namespace == namespace)
    found = _evictions(connection, query=query.order_by(columns.namespace, columns.uid))
    # To whom only one namespace is shown, a request about others does not exist.
    return (_REQUEST.decode(document), found) if found or namespace is None else None


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(eviction_requests)) or 0


def _drop(connection: Connection, *, before: float | None, most: int) -> int:
    columns = requested_evictions.c
    # What goes on is not dropped.
    unfinished = select(columns.request).where(columns.state.in_(OPEN))
    oldest = (
        select(eviction_requests.c.id)
        .where(eviction_requests.c.id.not_in(unfinished))
        .order_by(eviction_requests.c.at, eviction_requests.c.id)
        .limit(most)
    )
    if before is not None:
        oldest = oldest.where(eviction_requests.c.at < before)
    gone = list(connection.scalars(oldest))
    connection.execute(delete(requested_evictions).where(columns.request.in_(gone)))
    connection.execute(delete(eviction_requests).where(eviction_requests.c.id.in_(gone)))
    return len(gone)
