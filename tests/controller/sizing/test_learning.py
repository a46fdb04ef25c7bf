from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.ingest.consuming import ConsumedReports
from nemutator_controller.ingest.learning import LearningTurns
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.series_tables import SeriesTables
from nemutator_controller.ingest.usage_points import (
    NamedSeries,
    NodePoints,
    Series,
    points_of,
)
from nemutator_controller.sizing.keys import ByPath
from nemutator_controller.sizing.learning import NOTHING_REQUESTED, UsageLearner
from nemutator_controller.sizing.usages import SPARED_S, Usages

from tests.controller.sizing.test_usages import NOW, summary
from tests.fakes.batches import busy_report
from tests.fakes.brain_stores import MemoryReports
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


def batch_of(seq: int, *paths: str, at: float = NOW) -> Batch:
    summaries = tuple(replace(summary(at), path=path) for path in paths)
    report = replace(busy_report(at), summaries=summaries)
    return Batch("n1", "e1", (Envelope(seq, report),))


class Bench:
    def __init__(self, most: int = 10) -> None:
        self.meter, self.usages, self.clock = MemoryMeter(), Usages(most=most), ManualClock(NOW)
        process = fake_process(meter=self.meter, clock=self.clock)
        owners = SeriesOwners(ByPath().of, most_nodes=10)
        learner = UsageLearner(self.usages, owners, process)
        self.hearing = ConsumedReports(
            MemoryReports(),
            LearningTurns([learner], process.clock),
            SeriesTables(most_nodes=9),
            process,
            most_nodes=10,
        )

    def points(self) -> dict[str, int]:
        return {one.key.owner: one.points for one in self.usages.seen(self.usages.keys(), now=NOW)}


async def test_what_is_new_is_learned_and_a_repetition_is_not() -> None:
    bench = Bench()
    for _ in range(3):
        assert (await bench.hearing.store(batch_of(1, "/s/a", "/s/b"), now=NOW)).seq == 1
    await bench.hearing.store(batch_of(2, "/s/a"), now=NOW)
    assert bench.points() == {"a": 2, "b": 1}
    assert await bench.hearing.stored_up_to("n1", "e1") == 2
    assert bench.meter.value(names.SUMMARIES_LEARNED) == 3
    assert bench.meter.value(names.USAGES) == 2


async def test_what_is_unsound_or_nobodys_is_counted_and_harms_nothing_else() -> None:
    bench = Bench()
    await bench.hearing.store(batch_of(1, "/s/a", at=NOW + 200), now=NOW)
    await bench.hearing.store(batch_of(2, "/s/a", at=NOW + 1000), now=NOW)
    await bench.hearing.store(batch_of(3, "/"), now=NOW)
    assert bench.points() == {"a": 1}
    assert bench.meter.value(names.SUMMARIES_DROPPED, reason="unsound") == 1
    assert bench.meter.value(names.SUMMARIES_DROPPED, reason="unknown_owner") == 1


async def test_that_it_waited_is_learned_as_a_share_of_the_time() -> None:
    bench = Bench()
    waited = replace(summary(NOW), path="/s/a", cpu_waiting=40.0, memory_waiting=10.0)
    report = replace(busy_report(NOW), summaries=(waited, replace(summary(NOW), path="/s/b")))
    await bench.hearing.store(Batch("n1", "e1", (Envelope(1, report),)), now=NOW)
    found = bench.usages.seen(bench.usages.keys(), now=NOW)
    assert {one.key.owner: (one.cpu_waiting, one.memory_waiting) for one in found} == {
        "a": (0.4, 0.1),
        "b": (0.0, 0.0),
    }


async def test_who_makes_room_is_counted() -> None:
    bench = Bench(most=1)
    await bench.hearing.store(batch_of(1, "/s/a"), now=NOW)
    await bench.hearing.store(batch_of(2, "/s/b"), now=NOW)
    assert bench.points() == {"a": 1}
    assert bench.meter.value(names.SUMMARIES_DROPPED, reason="no_room") == 1
    await bench.clock.advance(SPARED_S)
    await bench.hearing.store(batch_of(3, "/s/b"), now=NOW)
    assert bench.meter.value(names.USAGES_DROPPED, reason="count") == 1
    assert bench.points() == {"b": 1}


class AsksForMemory:
    """A `RequestedMemory` that remembers whom it was asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def of(self, series: Series) -> float:
        self.asked.append(series.path)
        return 2.0**30


async def test_what_was_requested_is_asked_of_the_killed_alone() -> None:
    bench, requested = Bench(), AsksForMemory()
    owners = SeriesOwners(ByPath().of, most_nodes=10)
    learner = UsageLearner(bench.usages, owners, fake_process(), requested)
    fine, killed = replace(summary(), path="/s/a"), replace(summary(), path="/s/b", oom_kills=1)
    report = replace(busy_report(NOW), summaries=(fine, killed))
    learner.learn("n1", points_of(NamedSeries(), [Envelope(1, report)]), NOW)
    assert requested.asked == ["/s/b"]
    assert [one.memory_needed for one in bench.usages.seen(bench.usages.keys(), now=NOW)] == [
        0,
        int(2**30 * 1.2),
    ]
    assert NOTHING_REQUESTED.of(Series("/s/b", None, None, None)) == 0


REPORTS = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2", "n3"]),
        st.lists(st.sampled_from(["/s/a", "/s/b", "/s/c", "/s/d", "/"]), min_size=1, max_size=4),
        st.floats(0, 8),
    ),
    max_size=12,
)


def learner_of(most: int, meter: MemoryMeter) -> UsageLearner:
    process = fake_process(meter=meter, clock=ManualClock(NOW))
    owners = SeriesOwners(ByPath().of, most_nodes=10)
    return UsageLearner(Usages(most=most), owners, process)


@given(REPORTS, st.integers(1, 5), st.integers(1, 6))
def test_many_reports_at_once_are_learned_as_one_by_one(
    reports: list[tuple[str, list[str], float]], most: int, size: int
) -> None:
    series = {node: NamedSeries() for node in ("n1", "n2", "n3")}
    reported = []
    for number, (node, paths, cores) in enumerate(reports):
        at = NOW + number * 15 - 300
        summaries = tuple(replace(summary(at), path=path, cpu_cores=cores) for path in paths)
        envelope = Envelope(1, replace(busy_report(at), summaries=summaries))
        reported.append(NodePoints(node, points_of(series[node], [envelope])))
    meters = MemoryMeter(), MemoryMeter()
    single, batched = (learner_of(most, meter) for meter in meters)
    for one in reported:
        single.learn_all([one], NOW)
    for begin in range(0, len(reported), size):
        batched.learn_all(reported[begin : begin + size], NOW)
    ours, theirs = batched.usages, single.usages
    assert ours.keys() == theirs.keys()
    kept, wanted = ours.kept(ours.keys()), theirs.kept(theirs.keys())
    for key, row in kept.items():
        same = wanted[key]
        assert (row.points, row.first_at, row.last_at) == (same.points, same.first_at, same.last_at)
        np.testing.assert_allclose(
            row.cpu.astype(np.float64), same.cpu.astype(np.float64), rtol=1e-5
        )
        np.testing.assert_array_equal(row.peaks.days, same.peaks.days)
    for name in (names.SUMMARIES_LEARNED, names.USAGES):
        assert meters[0].value(name) == meters[1].value(name)
    for reason in ("unsound", "unknown_owner", "no_room"):
        dropped = [meter.value(names.SUMMARIES_DROPPED, reason=reason) for meter in meters]
        assert dropped[0] == dropped[1]


def test_a_row_that_became_anothers_is_looked_up_again() -> None:
    learner = learner_of(1, MemoryMeter())
    series = {path: NamedSeries() for path in ("/s/a", "/s/b")}

    def points(path: str, at: float) -> NodePoints:
        envelope = Envelope(
            1, replace(busy_report(at), summaries=(replace(summary(at), path=path),))
        )
        return NodePoints(path, points_of(series[path], [envelope]))

    learner.learn_all([points("/s/a", NOW)], NOW)
    learner.learn_all([points("/s/b", NOW)], NOW)
    assert [key.owner for key in learner.usages.keys()] == ["a"]  # noqa: SIM118 - it is no mapping
    later = NOW + SPARED_S + 1
    learner.learn_all([points("/s/b", later)], later)
    learner.learn_all([points("/s/a", later)], later)
    [found] = learner.usages.seen(learner.usages.keys(), now=later)
    assert (found.key.owner, found.points) == ("b", 1)
