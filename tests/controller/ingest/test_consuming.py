import asyncio
import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.consuming import ConsumedReports
from nemutator_controller.ingest.gathering import GatheredReports
from nemutator_controller.ingest.learning import LearningTurns
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.series_tables import SeriesTables
from nemutator_controller.ingest.sql import SqlReports
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints
from nemutator_controller.usage.sql import record
from sqlalchemy import Connection

from tests.controller.ingest import test_columns
from tests.controller.ingest.test_usage_points import NOW, summary
from tests.fakes.brain_stores import MemoryReports
from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.process import fake_process
from tests.fakes.reports import report


@dataclass
class Learner:
    """A `UsageConsumer` that remembers."""

    learned: list[tuple[str, UsagePoints, float]] = field(default_factory=list)
    calls: int = 0
    fails: Exception | None = None

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        if self.fails is not None:
            raise self.fails
        self.calls += 1
        self.learned += [(one.node, one.points, now) for one in reported]


def batch(seq: int, *paths: str, epoch: str = "e1", node: str = "n1") -> Batch:
    summaries = tuple(summary(path) for path in paths)
    return Batch(node, epoch, (Envelope(seq, replace(report(NOW), summaries=summaries)),))


class Bench:
    def __init__(self) -> None:
        self.learners = Learner(), Learner()
        process = fake_process(clock=ManualClock(NOW + 1))
        self.reports = ConsumedReports(
            MemoryReports(),
            LearningTurns(self.learners, process.clock),
            SeriesTables(most_nodes=9),
            process,
            most_nodes=2,
        )


async def test_each_consumer_gets_what_is_new_once() -> None:
    bench = Bench()
    for _ in range(3):
        assert (await bench.reports.store(batch(1, "/a", "/b"), now=NOW)).seq == 1
    for learner in bench.learners:
        [(node, points, now)] = learner.learned
        assert (node, points.of.tolist(), now) == ("n1", [0, 1], NOW + 1)
    assert await bench.reports.stored_up_to("n1", "e1") == 1


async def test_a_report_without_points_is_none_of_their_business() -> None:
    bench = Bench()
    await bench.reports.store(batch(1), now=NOW)
    assert bench.learners[0].learned == []


async def test_series_are_the_same_object_within_an_epoch_only() -> None:
    bench = Bench()
    for seq, epoch in ((1, "e1"), (2, "e1"), (1, "e2")):
        await bench.reports.store(batch(seq, "/a", epoch=epoch), now=NOW)
    one, same, other = (points.series for _, points, _ in bench.learners[0].learned)
    assert one is same
    assert one is not other


async def test_series_of_nodes_that_are_long_silent_make_room() -> None:
    bench = Bench()
    for seq, node in ((1, "n1"), (1, "n2"), (2, "n1"), (1, "n3"), (3, "n1"), (2, "n2")):
        await bench.reports.store(batch(seq, "/a", node=node), now=NOW)
    of = [(node, points.series) for node, points, _ in bench.learners[0].learned]
    assert of[0][1] is of[2][1] is of[4][1]
    assert of[1][1] is not of[5][1]


async def test_what_is_stored_together_is_learned_together() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(bench.reports.store(batch(1, "/a", node=f"n{number}"), now=NOW))
    for learner in bench.learners:
        assert learner.calls == 1
        assert [node for node, _, _ in learner.learned] == [f"n{number}" for number in range(5)]


async def test_who_waits_hears_of_a_learner_that_fails_and_others_go_on() -> None:
    bench = Bench()
    bench.learners[0].fails = ValueError("no")
    with pytest.raises(ValueError, match="no"):
        await bench.reports.store(batch(1, "/a"), now=NOW)
    bench.learners[0].fails = None
    await bench.reports.store(batch(2, "/a"), now=NOW)
    assert len(bench.learners[0].learned) == 1


async def test_who_goes_away_takes_nothing_from_those_who_wait() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(bench.reports.store(batch(1, "/a"), now=NOW))
        staying = group.create_task(bench.reports.store(batch(1, "/a", node="n2"), now=NOW))
        # Both are stored by then, and neither is learned.
        await asyncio.sleep(0)
        leaving.cancel()
    assert staying.result().seq == 1
    assert [node for node, _, _ in bench.learners[0].learned] == ["n1", "n2"]


@pytest.mark.parametrize("form", ["json", "columns"])
async def test_what_is_on_disk_after_its_deadline_is_learned_once_though_it_is_sent_again(
    tmp_path: Path, form: str
) -> None:
    began, release = threading.Event(), threading.Event()

    def slow(connection: Connection, fresh: Sequence[tuple[str, Envelope]]) -> None:
        record(connection, fresh)
        began.set()
        release.wait(60)

    learner, tables = Learner(), SeriesTables(most_nodes=9)
    process = fake_process(clock=ManualClock(NOW + 1))
    sent = batch(1, "/a")
    if form == "columns":
        columns = test_columns.taken(
            test_columns.body_of(test_columns.said(test_columns.summary()))
        )
        tables.add(columns.node, columns.epoch, columns.names)
        sent = columns
    with opened(tmp_path / "x.db") as database:
        gathered = GatheredReports(
            SqlReports(database, slow, deadline_s=0.05), process, gather_s=0.0
        )
        consumed = ConsumedReports(
            gathered, LearningTurns([learner], process.clock), tables, process, most_nodes=2
        )
        gathered.late = consumed.stored_late

        async def acknowledged(one: Batch) -> Stored[Envelope]:
            """As an agent does it."""
            while True:
                with contextlib.suppress(StoreUnavailableError):
                    return await consumed.store(one, now=NOW)

        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(gathered.run())
            while not began.is_set():
                with pytest.raises(StoreUnavailableError):
                    await consumed.store(sent, now=NOW)
            assert not learner.learned
            release.set()
            again = await acknowledged(sent)
            # Its turn to be learned is after that of what came before.
            await acknowledged(batch(1, "/b", node="n2"))
            writing.cancel()
    assert (again.seq, list(again.fresh)) == (1, [])
    assert [node for node, _, _ in learner.learned] == [sent.node, "n2"]
    assert learner.learned[0][1].series[0].path == "/a"
