"""Points that wait to be learned, the claim of who learns, and what was learned, in PostgreSQL."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nemutator_common.wire import Envelope
from sqlalchemy import Connection, Select, delete, insert, select

from nemutator_controller.database import claims
from nemutator_controller.database.access import JOB_S, Database
from nemutator_controller.database.claim import Claim
from nemutator_controller.database.schema import histograms, reported_points
from nemutator_controller.ingest.pointing import PointedReport
from nemutator_controller.ingest.usage_points import NamedSeries, points_of
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.shared.kept_points import WaitingPoints, pack
from nemutator_controller.sizing.sql import LOAD_S, packed_rows, replace_rows, usages_in

log = logging.getLogger(__name__)

LEARNER = "learner"
AT_ONCE = 200
"""Reports in one read."""

SAVE_S = 30.0

Record = Callable[[Connection, Sequence[tuple[str, Envelope]]], None]


def with_points(record: Record) -> Record:
    """*record*, and the points and flows of the reports for all brains, in the transaction that acknowledges them."""

    def both(connection: Connection, reports: Sequence[tuple[str, Envelope]]) -> None:
        record(connection, reports)
        by_node: dict[str, list[Envelope]] = {}
        rows = []
        for node, envelope in reports:
            found = envelope.report
            if isinstance(found, PointedReport):
                if found.points is not None or found.flows:
                    rows.append({"node": node, "packed": pack(found.points, found.flows)})
            else:
                by_node.setdefault(node, []).append(envelope)
        for node, envelopes in by_node.items():
            points = points_of(NamedSeries(), envelopes)
            flows = [flow for each in envelopes for flow in each.report.flows]
            if points or flows:
                rows.append({"node": node, "packed": pack(points, flows)})
        if rows:
            connection.execute(insert(reported_points), rows)

    return both


@dataclass(slots=True)
class SqlSharedUsages:
    """A `SharedUsages`."""

    database: Database
    holder: str
    _heard_at: float = field(default=0.0, init=False)
    """When the claim was renewed last, as PostgreSQL has said."""

    async def take(self) -> Claim | None:
        self._heard_at = 0.0
        return await self.database.write(partial(claims.take, name=LEARNER, holder=self.holder))

    async def renew(self, claim: Claim) -> bool:
        renewed = partial(claims.renew, claim=claim, heard_at=self._heard_at)
        heard_at = await self.database.write(renewed)
        if heard_at is not None:
            self._heard_at = heard_at
        elif await self.database.write(partial(claims.held, claim=claim)):
            # Nobody has taken it: a backup was restored, or a standby that lags has taken over.
            log.warning("database_set_back")
        return heard_at is not None

    async def release(self, claim: Claim) -> None:
        await self.database.write(partial(claims.release, claim=claim))

    async def waiting(self) -> Sequence[int]:
        query = select(reported_points.c.id).order_by(reported_points.c.id)
        return await self.database.read(lambda connection: list(connection.scalars(query)))

    async def points(self, numbers: Sequence[int]) -> Sequence[WaitingPoints]:
        columns = reported_points.c
        found: list[WaitingPoints] = []
        for begin in range(0, len(numbers), AT_ONCE):
            some = columns.id.in_(numbers[begin : begin + AT_ONCE])
            query = (
                select(columns.id, columns.node, columns.packed).where(some).order_by(columns.id)
            )

            found += await self.database.read(partial(_waiting, query=query))
        return found

    async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
        query = select(histograms).where(histograms.c.heard_at >= heard_since)
        return await self.database.read(partial(usages_in, query=query), deadline_s=LOAD_S)

    async def save(
        self,
        claim: Claim,
        kept: Mapping[ContainerKey, SavedUsage],
        gone: Collection[ContainerKey],
        learned: Collection[int],
    ) -> bool:
        def job(connection: Connection) -> bool:
            if not claims.held(connection, claim):
                return False
            replace_rows(connection, packed_rows(kept), [*kept, *gone])
            for some in _steps(sorted(learned)):
                connection.execute(delete(reported_points).where(reported_points.c.id.in_(some)))
            return True

        # Many rows take about as long as a claim lasts, so that it is renewed right behind them, before anything else that waits to be
        # written. Within that transaction it would be refused, because others have asked of the claim meanwhile.
        renewed = partial(claims.renew, claim=claim)
        try:
            async with asyncio.TaskGroup() as tasks:
                saving = tasks.create_task(
                    self.database.write(job, deadline_s=SAVE_S), name="save what was learned"
                )
                tasks.create_task(
                    self.database.write(renewed, deadline_s=SAVE_S + JOB_S), name="renew the claim"
                )
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return saving.result()


def _waiting(connection: Connection, *, query: Select[Any]) -> list[WaitingPoints]:
    return [WaitingPoints(*row) for row in connection.execute(query)]


def _steps(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), 1_000):
        yield numbers[begin : begin + 1_000]
