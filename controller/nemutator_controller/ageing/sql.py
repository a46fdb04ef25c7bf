"""Quiet windows, what their ids stand for, and what was found, in the database."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial

import msgspec
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.windows import SymbolFrame, WindowPause, WindowReading, WindowSymbols
from sqlalchemy import Connection, delete, func, insert, select, update

from nemutator_controller.ageing.kept_windows import kept, packed, source_of, unpacked
from nemutator_controller.ageing.model import (
    AgedWorkload,
    AgeingFinding,
    ChangedWorkload,
    KeptWindow,
    WindowSource,
)
from nemutator_controller.ageing.pauses import Pauses
from nemutator_controller.ageing.records import window_records
from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import (
    aged_workloads,
    window_sources,
    window_symbols,
    windows,
)

log = logging.getLogger(__name__)

MOST_OF_A_WORKLOAD = 4_000
"""Windows that are kept of one workload: a week of two replicas, whose heap and CPU time are read every ten
minutes."""

MOST_SYMBOLS = 50_000
STEP = 500
"""Windows that are removed in one transaction."""

SYMBOLS_AT_ONCE = 500

_SOURCE = tuple(window_sources.c[one.name] for one in fields(WindowSource))
_finding = msgspec.json.Decoder(AgeingFinding)
_workload = msgspec.json.Decoder(AgedWorkload)
_frames = msgspec.json.Decoder(tuple[SymbolFrame, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLimits:
    seconds: float
    bytes: int
    of_a_workload: int = MOST_OF_A_WORKLOAD


@dataclass(frozen=True, slots=True)
class SqlWindows:
    """`record` is the handler of the stream "windows"; the rest is a `WindowStore`."""

    database: Database
    limits: WindowLimits
    process: Process
    _pauses: Pauses = field(default_factory=Pauses, init=False)

    def record(
        self, connection: Connection, writer: str, records: Sequence[dict[str, object]]
    ) -> None:
        """Save *records* of *writer*, in the caller's transaction; ValueError: one is wrong."""
        now = self.process.clock.now()
        for found in list(window_records(writer, records, now=now)):
            if isinstance(found, WindowSymbols):
                _keep_symbols(connection, found, now=now)
            elif isinstance(found, WindowReading):
                _keep_reading(connection, found)
            else:
                self._pauses.take(found, now=now)

    def pauses(self) -> Sequence[WindowPause]:
        return self._pauses.standing(now=self.process.clock.now())

    async def unowned(self, most: int) -> Sequence[WindowSource]:
        query = (
            select(*_SOURCE)
            .where(window_sources.c.workload.is_(None))
            .order_by(window_sources.c.last_at.desc())
            .limit(most)
        )

        def job(connection: Connection) -> list[WindowSource]:
            return [WindowSource(**row) for row in connection.execute(query).mappings()]

        return await self.database.read(job)

    async def own(self, sources: Mapping[str, AgedWorkload]) -> None:
        await self.database.write(partial(_own, sources=sources))

    async def changed_since(self, moment: float) -> Sequence[ChangedWorkload]:
        query = (
            select(aged_workloads.c.workload, window_sources.c.image, window_sources.c.last_at)
            .join(window_sources, window_sources.c.workload == aged_workloads.c.id)
            .where(window_sources.c.last_at > moment)
            .order_by(window_sources.c.started_at, window_sources.c.last_at)
        )

        def job(connection: Connection) -> list[ChangedWorkload]:
            newest: dict[bytes, tuple[str, float]] = {}
            for document, image, read_at in connection.execute(query):
                # The process that started last comes last, and its image is the newest.
                _, before = newest.get(document, ("", 0.0))
                newest[document] = image, max(before, read_at)
            return [
                ChangedWorkload(_workload.decode(document), image, read_at)
                for document, (image, read_at) in newest.items()
            ]

        return await self.database.read(job)

    async def history(self, workload: AgedWorkload) -> Mapping[WindowSource, Sequence[KeptWindow]]:
        return await self.database.read(partial(_history, workload=workload.id))

    async def frames(self, ids: Collection[str]) -> Mapping[str, tuple[SymbolFrame, ...]]:
        return await self.database.read(partial(_known_frames, ids=sorted(ids)))

    async def findings(self) -> Sequence[AgeingFinding]:
        query = select(aged_workloads.c.finding).where(aged_workloads.c.finding.is_not(None))

        def job(connection: Connection) -> list[AgeingFinding]:
            return [each for one in connection.scalars(query) for each in _decoded(one)]

        return await self.database.read(job)

    async def save(self, finding: AgeingFinding) -> None:
        document = msgspec.json.encode(finding)
        statement = (
            update(aged_workloads)
            .where(aged_workloads.c.id == finding.workload.id)
            .values(finding=document)
        )
        await self.database.write(lambda connection: connection.execute(statement).rowcount)

    async def known(self) -> frozenset[str]:
        query = select(aged_workloads.c.id)
        return await self.database.read(lambda connection: frozenset(connection.scalars(query)))

    async def prune(self) -> Mapping[str, int]:
        before = self.process.clock.now() - self.limits.seconds
        removed = {"age": 0, "quota": 0, "bytes": 0}
        while step := await self.database.write(partial(_drop_older, moment=before)):
            removed["age"] += step
        removed["quota"] = await self.database.write(
            partial(_drop_above_quota, most=self.limits.of_a_workload)
        )
        while step := await self.database.write(partial(_drop_above_bytes, most=self.limits.bytes)):
            removed["bytes"] += step
        await self.database.write(_drop_unused)
        return {reason: count for reason, count in removed.items() if count}


def _decoded(document: bytes) -> Iterator[AgeingFinding]:
    try:
        yield _finding.decode(document)
    except msgspec.MsgspecError as error:
        # It has another version's shape: the next look writes it anew.
        log.warning("finding_unreadable", {names.ERROR: error})


def _keep_reading(connection: Connection, reading: WindowReading) -> None:
    source = source_of(reading)
    same = window_sources.c.id == source.id
    seen = connection.execute(
        update(window_sources).where(same).values(last_at=max(reading.at, 0.0))
    )
    if not seen.rowcount:
        connection.execute(insert(window_sources).values(**asdict(source), last_at=reading.at))
    content = packed(kept(reading))
    connection.execute(
        insert(windows).values(source=source.id, at=reading.at, bytes=len(content), packed=content)
    )


def _keep_symbols(connection: Connection, symbols: WindowSymbols, *, now: float) -> None:
    named = {one.id: one.frames for one in symbols.sites}
    for one in symbols.functions:
        named[one.id] = (SymbolFrame(one.function, one.file, one.line),)
    for identity, frames in named.items():
        same = window_symbols.c.id == identity
        seen = connection.execute(update(window_symbols).where(same).values(seen_at=now))
        if not seen.rowcount:
            document = msgspec.json.encode(frames)
            connection.execute(
                insert(window_symbols).values(id=identity, seen_at=now, frames=document)
            )


def _own(connection: Connection, *, sources: Mapping[str, AgedWorkload]) -> None:
    for workload in set(sources.values()):
        known = connection.scalar(
            select(aged_workloads.c.id).where(aged_workloads.c.id == workload.id)
        )
        if known is None:
            connection.execute(
                insert(aged_workloads).values(
                    id=workload.id,
                    namespace=workload.namespace,
                    workload=msgspec.json.encode(workload),
                )
            )
    for source, workload in sources.items():
        connection.execute(
            update(window_sources).where(window_sources.c.id == source).values(workload=workload.id)
        )


def _history(
    connection: Connection, *, workload: str
) -> Mapping[WindowSource, Sequence[KeptWindow]]:
    of_workload = window_sources.c.workload == workload
    newest = (
        select(window_sources.c.image)
        .where(of_workload)
        .order_by(window_sources.c.started_at.desc(), window_sources.c.last_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = select(*_SOURCE).where(of_workload, window_sources.c.image == newest)
    sources = {row["id"]: WindowSource(**row) for row in connection.execute(query).mappings()}
    found: dict[WindowSource, list[KeptWindow]] = {source: [] for source in sources.values()}
    rows = connection.execute(
        select(windows.c.source, windows.c.packed)
        .where(windows.c.source.in_(sources))
        .order_by(windows.c.at.desc())
        .limit(MOST_OF_A_WORKLOAD)
    ).all()
    for source, content in reversed(rows):
        found[sources[source]].append(unpacked(content))
    return {source: kept_windows for source, kept_windows in found.items() if kept_windows}


def _known_frames(
    connection: Connection, *, ids: Sequence[str]
) -> Mapping[str, tuple[SymbolFrame, ...]]:
    found: dict[str, tuple[SymbolFrame, ...]] = {}
    for begin in range(0, len(ids), SYMBOLS_AT_ONCE):
        some = window_symbols.c.id.in_(ids[begin : begin + SYMBOLS_AT_ONCE])
        query = select(window_symbols.c.id, window_symbols.c.frames).where(some)
        found |= {identity: _frames.decode(one) for identity, one in connection.execute(query)}
    return found


def _drop_older(connection: Connection, *, moment: float) -> int:
    old = select(windows.c.number).where(windows.c.at < moment).limit(STEP)
    return connection.execute(delete(windows).where(windows.c.number.in_(old))).rowcount


def _drop_above_quota(connection: Connection, *, most: int) -> int:
    """The oldest of workloads that have more than their part."""
    above = connection.execute(
        select(window_sources.c.workload, func.count())
        .join(windows, windows.c.source == window_sources.c.id)
        .group_by(window_sources.c.workload)
        .having(func.count() > most)
    ).all()
    removed = 0
    for workload, count in above:
        same = (
            window_sources.c.workload.is_(None)
            if workload is None
            else window_sources.c.workload == workload
        )
        oldest = (
            select(windows.c.number)
            .where(windows.c.source.in_(select(window_sources.c.id).where(same)))
            .order_by(windows.c.at)
            .limit(count - most)
        )
        gone = connection.execute(delete(windows).where(windows.c.number.in_(oldest)))
        removed += gone.rowcount
    return removed


def _drop_above_bytes(connection: Connection, *, most: int) -> int:
    size = connection.scalar(select(func.coalesce(func.sum(windows.c.bytes), 0))) or 0
    if size <= most:
        return 0
    oldest = select(windows.c.number).order_by(windows.c.at).limit(STEP)
    return connection.execute(delete(windows).where(windows.c.number.in_(oldest))).rowcount


def _drop_unused(connection: Connection) -> None:
    """Processes without a window, workloads without a process, symbols that were not named for long."""
    connection.execute(
        delete(window_sources).where(window_sources.c.id.not_in(select(windows.c.source)))
    )
    owned = select(window_sources.c.workload).where(window_sources.c.workload.is_not(None))
    connection.execute(delete(aged_workloads).where(aged_workloads.c.id.not_in(owned)))
    newest = (
        select(window_symbols.c.id).order_by(window_symbols.c.seen_at.desc()).limit(MOST_SYMBOLS)
    )
    connection.execute(delete(window_symbols).where(window_symbols.c.id.not_in(newest)))
