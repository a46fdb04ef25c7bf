"""Claims of brains, and what they share, in the real PostgreSQL."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.database import claims
from nemutator_controller.database.access import Database
from nemutator_controller.database.claim import ClaimLostError
from nemutator_controller.database.postgres import Server
from nemutator_controller.database.schema import claims as table
from nemutator_controller.history.slices import SavedRow
from nemutator_controller.history.sql import SqlUsageHistory
from nemutator_controller.ingest.sql import SqlReports
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.shared.kept_points import unpack
from nemutator_controller.sizing.shared.sql import SqlSharedUsages, with_points
from nemutator_controller.usage.sql import record
from sqlalchemy import select, update

from tests.contract.database.test_usages import kept
from tests.controller.history.points import key
from tests.controller.sizing.test_usages import NOW, summary
from tests.fakes.batches import busy_report
from tests.fakes.databases import opened_on
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database

pytestmark = pytest.mark.e2e

ROWS = kept("a")


@pytest.fixture
def server(postgres: Postgres, tmp_path: Path) -> Iterator[Server]:
    with new_database(postgres, tmp_path) as server:
        yield server


@pytest.fixture
def brains(server: Server) -> Iterator[list[Database]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(opened_on(server)) for _ in range(2)]


def batch(seq: int) -> Batch:
    report = replace(busy_report(NOW + seq), summaries=(replace(summary(NOW), path="/s/a"),))
    return Batch("n1", "e1", (Envelope(seq, report),))


async def silent(database: Database) -> None:
    statement = update(table).values(heard_at=0.0)
    await database.write(lambda connection: connection.execute(statement).rowcount)


async def test_one_has_it_until_nothing_is_heard_of_it(brains: list[Database]) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    first = await one.take()
    assert first is not None
    assert await other.take() is None
    assert await one.renew(first)
    await silent(brains[0])
    second = await other.take()
    assert second is not None
    assert second.generation == first.generation + 1
    assert not await one.renew(first)
    await other.release(second)
    assert await one.take() is not None


async def test_a_database_that_was_set_back_is_noticed(
    brains: list[Database], caplog: pytest.LogCaptureFixture
) -> None:
    shared = SqlSharedUsages(brains[0], "a")
    claim = await shared.take()
    assert claim is not None
    assert await shared.renew(claim)
    before = await brains[0].read(lambda connection: connection.scalar(select(table.c.heard_at)))
    assert await shared.renew(claim)
    restored = update(table).values(heard_at=before)
    await brains[0].write(lambda connection: connection.execute(restored).rowcount)
    assert not await shared.renew(claim)
    assert [record.message for record in caplog.records] == ["database_set_back"]
    again = await shared.take()
    assert again is not None
    assert again.generation == claim.generation + 1
    for _ in range(2):
        assert await shared.renew(again)


async def test_a_process_that_started_again_takes_its_own_claim(brains: list[Database]) -> None:
    one = SqlSharedUsages(brains[0], "a")
    assert await one.take() is not None
    again = await SqlSharedUsages(brains[1], "a").take()
    assert again is not None
    assert again.generation == 2


async def test_points_wait_from_their_acknowledgement_until_they_are_saved(
    brains: list[Database],
) -> None:
    reports = [SqlReports(brain, with_points(record)) for brain in brains]
    shared = SqlSharedUsages(brains[0], "a")
    claim = await shared.take()
    assert claim is not None
    await reports[0].store(batch(1), now=NOW)
    # The answer was lost, so that the agent sends it to another brain again, with the next one.
    for number in (1, 2):
        await reports[1].store(batch(number), now=NOW)
    waiting = await shared.waiting()
    assert len(waiting) == 2
    [points, _] = await shared.points(waiting)
    assert (points.node, len(unpack(points.packed)[0])) == ("n1", 1)
    assert await shared.save(claim, ROWS, (), waiting)
    assert await shared.waiting() == []
    assert [row.points for row in (await shared.load(heard_since=0)).values()] == [1]


async def test_points_that_nobody_has_learned_from_are_let_go(brains: list[Database]) -> None:
    await SqlReports(brains[0], with_points(record)).store(batch(1), now=NOW)
    shared = SqlSharedUsages(brains[0], "a")
    claim = await shared.take()
    assert claim is not None
    assert await shared.save(claim, {}, (), await shared.waiting())
    assert await shared.waiting() == []
    assert await shared.load(heard_since=0) == {}


async def test_who_has_lost_its_claim_saves_nothing(brains: list[Database]) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    await SqlReports(brains[0], with_points(record)).store(batch(1), now=NOW)
    old = await one.take()
    assert old is not None
    await silent(brains[0])
    assert await other.take() is not None
    assert not await one.save(old, ROWS, (), await one.waiting())
    assert len(await one.waiting()) == 1
    assert await one.load(heard_since=0) == {}


async def test_who_saves_for_long_keeps_its_claim(brains: list[Database]) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    claim = await one.take()
    assert claim is not None
    # As after a save of many rows, while which nobody could take it.
    await silent(brains[0])
    assert await one.save(claim, ROWS, (), ())
    assert await other.take() is None


async def test_who_has_lost_its_claim_leaves_the_history_of_the_other_one(
    brains: list[Database],
) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    history, of_other = (SqlUsageHistory(brain, ContainerKey) for brain in brains)
    old = await one.take()
    assert old is not None
    await history.save([SavedRow(0, key("a"), 1)], [], [], old)
    await silent(brains[0])
    new = await other.take()
    assert new is not None
    await of_other.save([SavedRow(0, key("b"), 2), SavedRow(1, key("a"), 2)], [], [], new)
    with pytest.raises(ClaimLostError):
        await history.save([SavedRow(1, key("c"), 2)], [0], [], old)
    with pytest.raises(ClaimLostError):
        await history.drop_beyond(0, old)
    assert {row.number: row.key.owner for row in await history.rows()} == {0: "b", 1: "a"}


async def test_who_saves_its_history_keeps_its_claim(brains: list[Database]) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    claim = await one.take()
    assert claim is not None
    await silent(brains[0])
    await SqlUsageHistory(brains[0], ContainerKey).save([SavedRow(0, key("a"), 1)], [], [], claim)
    assert await other.take() is None


async def test_a_claim_holds_until_the_transaction_ends(brains: list[Database]) -> None:
    one, other = (SqlSharedUsages(brain, name) for brain, name in zip(brains, "ab", strict=True))
    claim = await one.take()
    assert claim is not None
    assert await brains[0].write(partial(claims.held, claim=claim))
    assert await other.take() is None
