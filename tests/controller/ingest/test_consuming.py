import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.ingest.consuming import ConsumedReports
from nemutator_controller.ingest.learning import LearningTurns
from nemutator_controller.ingest.series_tables import SeriesTables
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints

from tests.controller.ingest.test_usage_points import NOW, summary
from tests.fakes.brain_stores import MemoryReports
from tests.fakes.clocks import ManualClock
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
