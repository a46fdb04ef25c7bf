"""One suite for every store: on the fakes that fast tests use, and on SQLite."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_controller.access.ports import SessionStore
from nemutator_controller.access.sessions import Session
from nemutator_controller.access.sql import SqlSessions
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.ports import LatestStore
from nemutator_controller.cluster.sql import SqlLatest
from nemutator_controller.ingest.ports import ReportStore
from nemutator_controller.ingest.sql import KEPT_EPOCHS, SqlReports
from nemutator_controller.usage.ports import HistoryStore
from nemutator_controller.usage.sql import MOST_POINTS, SqlHistory, record

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.batches import NOW, batch, busy_report
from tests.fakes.brain_stores import MemoryHistory, MemoryLatest, MemoryReports, MemorySessions
from tests.fakes.databases import opened


@dataclass
class Stores:
    reports: ReportStore
    history: HistoryStore
    latest: LatestStore
    sessions: SessionStore


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param == "memory":
        reports = MemoryReports()
        history = MemoryHistory(reports.points)
        yield Stores(reports, history, MemoryLatest(), MemorySessions())
        return
    with opened_for(request, tmp_path) as database:
        yield Stores(
            SqlReports(database, record),
            SqlHistory(database),
            SqlLatest(database),
            SqlSessions(database),
        )


async def moments(stores: Stores, node: str = "n1", since: float = 0) -> list[float]:
    series = await stores.history.series(node, since=since)
    assert series is not None
    return [point.at - NOW for point in series.points]


async def test_what_is_stored_is_known_by_its_number_and_its_points(stores: Stores) -> None:
    assert await stores.reports.stored_up_to("n1", "e1") == 0
    stored = await stores.reports.store(batch((1, 2, 3)), now=NOW)
    assert (stored.before, stored.seq, stored.lost) == (0, 3, 0)
    assert await stores.reports.stored_up_to("n1", "e1") == 3
    assert await moments(stores) == [0, 1, 2]


async def test_storing_again_changes_nothing(stores: Stores) -> None:
    for _ in range(3):
        await stores.reports.store(batch((1, 2)), now=NOW)
    stored = await stores.reports.store(batch((2, 3)), now=NOW)
    assert [envelope.seq for envelope in stored.fresh] == [3]
    assert await moments(stores) == [0, 1, 2]


async def test_an_epoch_that_begins_after_the_clock_was_set_back_is_counted_once(
    stores: Stores,
) -> None:
    for life in range(KEPT_EPOCHS):
        await stores.reports.store(batch((1,), epoch=f"e{life}"), now=NOW + 86_400)
    await stores.reports.store(batch((1, 2), epoch="later"), now=NOW)
    assert await stores.reports.stored_up_to("n1", "later") == 2
    assert not (await stores.reports.store(batch((1, 2), epoch="later"), now=NOW + 1)).fresh


async def test_another_epoch_and_another_node_have_numbers_of_their_own(stores: Stores) -> None:
    await stores.reports.store(batch((5,), epoch="e1"), now=NOW)
    await stores.reports.store(batch((1,), epoch="e2", at=NOW + 9), now=NOW)
    await stores.reports.store(batch((2,), node="n2"), now=NOW)
    assert await stores.reports.stored_up_to("n1", "e1") == 5
    assert await stores.reports.stored_up_to("n1", "e2") == 1
    assert await stores.reports.stored_up_to("n2", "e1") == 2
    assert await moments(stores) == [4, 9]


async def test_a_second_report_for_one_moment_is_taken_and_makes_no_second_point(
    stores: Stores,
) -> None:
    await stores.reports.store(batch((1,), epoch="e1"), now=NOW)
    stored = await stores.reports.store(batch((1,), epoch="e2"), now=NOW)
    assert stored.seq == 1
    assert await moments(stores) == [0]


async def test_the_history_can_be_asked_for_its_end(stores: Stores) -> None:
    await stores.reports.store(batch((1, 2, 3)), now=NOW)
    assert await moments(stores, since=NOW + 1) == [1, 2]
    assert await moments(stores, since=NOW + 9) == []
    assert await stores.history.series("unknown", since=0) is None


async def test_the_oldest_points_go_first_and_in_steps(stores: Stores) -> None:
    await stores.reports.store(batch(range(1, 11)), now=NOW)
    assert await stores.history.drop_before(NOW + 5, most=3) == 3
    assert await stores.history.drop_before(NOW + 5, most=3) == 2
    assert await stores.history.drop_before(NOW + 5, most=3) == 0
    assert await stores.history.drop_oldest(most=2) == 2
    assert await moments(stores) == [7, 8, 9]
    assert await stores.history.count() == 3


async def test_the_last_picture_of_each_node_comes_back(stores: Stores) -> None:
    old = ReportedNode.of("n1", "e1", 1, NOW, busy_report())
    new = ReportedNode.of("n1", "e1", 2, NOW + 3, busy_report(NOW + 3))
    await stores.latest.save([old, ReportedNode.of("n2", "e1", 1, NOW, busy_report())])
    await stores.latest.save([new])
    await stores.latest.forget(["n2", "never seen"])
    assert list(await stores.latest.load()) == [replace(new, restored=True)]


async def test_sessions_come_back_until_they_expire(stores: Stores) -> None:
    await stores.sessions.save(Session(b"a", NOW + 10, None), now=NOW)
    await stores.sessions.save(Session(b"b", NOW + 20, None), now=NOW)
    assert len(await stores.sessions.load(now=NOW)) == 2
    assert list(await stores.sessions.load(now=NOW + 10)) == [Session(b"b", NOW + 20, None)]


async def test_only_the_last_lives_of_an_agent_are_remembered(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        reports = SqlReports(database, record)
        for life in range(KEPT_EPOCHS + 2):
            one = batch((1,), epoch=f"e{life}", at=NOW + life)
            await reports.store(one, now=NOW + life)
        known = [await reports.stored_up_to("n1", f"e{life}") for life in range(KEPT_EPOCHS + 2)]
    assert known == [0, 0] + [1] * KEPT_EPOCHS


async def test_of_nodes_that_begin_together_each_has_its_number_and_no_more_epochs_than_are_kept(
    tmp_path: Path,
) -> None:
    with opened(tmp_path / "x.db") as database:
        reports = SqlReports(database, record)
        lives = [f"e{life}" for life in range(KEPT_EPOCHS + 2)]
        for life, epoch in enumerate(lives[:-3]):
            await reports.store(batch((1,), epoch=epoch, at=NOW + 9 * life), now=NOW + life)
        others = [batch((number,), node=f"n{number}") for number in range(2, 20)]
        again = [batch((1,), epoch=epoch, at=NOW - 9) for epoch in lives[-3:]]
        stored = await reports.store_all([*others, *again], now=NOW + 100)
        assert [len(one.fresh) for one in stored] == [1] * (18 + 3)
        for number in range(2, 20):
            assert await reports.stored_up_to(f"n{number}", "e1") == number
        known = [await reports.stored_up_to("n1", epoch) for epoch in lives]
        assert known == [0, 0] + [1] * KEPT_EPOCHS


@pytest.mark.slow
async def test_a_long_history_is_answered_in_means_that_lose_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "x.db") as database:
        history = SqlHistory(database)
        for start in range(0, 4 * MOST_POINTS, 500):
            numbers = range(start + 1, start + 501)
            one = batch(numbers)
            await SqlReports(database, record).store(one, now=NOW)
        series = await history.series("n1", since=NOW)
    assert series is not None
    assert series.step_s == pytest.approx(4, rel=0.01)
    assert MOST_POINTS - 2 <= len(series.points) <= MOST_POINTS
    assert series.points[-1].at == NOW + 4 * MOST_POINTS - 1
    assert {point.memory_used_bytes for point in series.points} == {1}


async def test_a_report_and_its_acknowledgement_are_stored_together_or_not_at_all(
    tmp_path: Path,
) -> None:
    def crash(*_: object) -> None:
        raise InterruptedError

    with opened(tmp_path / "x.db") as database:
        with pytest.raises(InterruptedError):
            await SqlReports(database, crash).store(batch((1,)), now=NOW)
        healthy = SqlReports(database, record)
        assert await healthy.stored_up_to("n1", "e1") == 0
        assert (await healthy.store(batch((1,)), now=NOW)).seq == 1
