from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import Ack, Batch, StreamBatch
from nemutator_common.wire_columns import COLUMNS_FORM
from nemutator_controller.access.callers import LOCAL, Caller
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.columns import ColumnBatch, decode_columns
from nemutator_controller.ingest.opening import OpeningTurns
from nemutator_controller.ingest.receiving import (
    ForbiddenNodeError,
    Receiver,
    StreamReceiver,
    TooManyNodesError,
)
from nemutator_controller.ingest.report_pace import COUNT_AGAIN_S, ReportPace
from nemutator_controller.ingest.series_tables import SeriesTables, UnknownSeriesError

from tests.controller.ingest.test_usage_points import summary as usage
from tests.fakes.batches import NOW, batch, busy_report
from tests.fakes.brain_stores import MemoryReports, MemoryStreams
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

ANYBODY = LOCAL


class Brain:
    def __init__(self, *, most: int = 2) -> None:
        self.store = MemoryReports()
        self.nodes = Nodes(most=most)
        self.meter = MemoryMeter()
        self.clock = ManualClock(NOW)
        process = fake_process(clock=self.clock, meter=self.meter)
        pace = ReportPace(self.nodes, reports_per_s=2, meter=self.meter)
        self.receiver = Receiver(
            self.store,
            self.nodes,
            pace,
            SeriesTables(most_nodes=most),
            OpeningTurns(self.clock),
            process,
        )

    async def receive(self, sent: Batch, caller: Caller) -> Ack:
        return await self.receiver.receive(lambda: sent, caller)


async def test_a_batch_is_acknowledged_counted_and_shown() -> None:
    brain = Brain()
    assert await brain.receive(batch((1, 2)), ANYBODY) == Ack("e1", 2, form=COLUMNS_FORM)
    assert brain.meter.value(names.REPORTS_STORED) == 2
    assert [node.seq for node in brain.nodes.all()] == [2]


async def test_what_is_sent_again_is_acknowledged_and_counted_but_not_stored_twice() -> None:
    brain = Brain()
    await brain.receive(batch((1, 2)), ANYBODY)
    assert await brain.receive(batch((1, 2, 3)), ANYBODY) == Ack("e1", 3, form=COLUMNS_FORM)
    assert len(brain.store.points["n1"]) == 3
    assert brain.meter.value(names.REPORTS_REPEATED) == 2


async def test_numbers_that_never_come_are_counted_as_lost() -> None:
    brain = Brain()
    await brain.receive(batch((1,)), ANYBODY)
    await brain.receive(batch((5, 7)), ANYBODY)
    assert brain.meter.value(names.REPORTS_LOST) == 4


async def test_many_nodes_are_each_asked_for_fewer_reports() -> None:
    brain = Brain(most=9)
    asked = [await brain.receive(batch((1,), node=f"n{n}"), ANYBODY) for n in range(9)]
    # Counted once in a while, not with each report.
    assert {ack.report_every_s for ack in asked} == {0.0}
    brain.clock.jump(COUNT_AGAIN_S)
    assert (await brain.receive(batch((2,)), ANYBODY)).report_every_s == 4.5
    assert (await brain.receiver.acknowledged("n1", "e1", ANYBODY)).report_every_s == 4.5
    assert brain.meter.value(names.REPORT_EVERY_SECONDS) == 4.5


async def test_what_is_refused_is_neither_shown_nor_stored() -> None:
    brain = Brain()
    with pytest.raises(RefusedBatchError):
        await brain.receive(batch((2, 1)), ANYBODY)
    assert not brain.nodes.all()
    assert not brain.store.points


async def test_what_was_checked_beforehand_is_shown_and_stored() -> None:
    brain = Brain()
    for wrong, refusal in (
        (batch((2, 1)), RefusedBatchError),
        (batch((1,), node="n2"), ForbiddenNodeError),
    ):
        with pytest.raises(refusal):
            brain.receiver.checked(lambda sent=wrong: sent, Caller("agent", "n1"))  # type: ignore[misc]
    checked = brain.receiver.checked(lambda: batch((1,)), Caller("agent", "n1"))
    assert not brain.nodes.all()
    assert (await brain.receiver.receive_checked(checked)).seq == 1
    assert [node.seq for node in brain.nodes.all()] == [1]


async def test_a_full_disk_stops_the_acks_and_not_the_picture() -> None:
    brain = Brain()
    brain.store.broken = "full"
    with pytest.raises(StoreUnavailableError):
        await brain.receive(batch((1,)), ANYBODY)
    assert [node.seq for node in brain.nodes.all()] == [1]
    brain.store.broken = None
    assert await brain.receive(batch((1,)), ANYBODY) == Ack("e1", 1, form=COLUMNS_FORM)


async def test_a_caller_speaks_for_its_own_node_only() -> None:
    brain = Brain()
    with pytest.raises(ForbiddenNodeError):
        await brain.receive(batch(node="n1"), Caller("agent", "n2"))
    with pytest.raises(ForbiddenNodeError):
        await brain.receiver.acknowledged("n1", "e1", Caller("agent", "n2"))


async def test_more_nodes_than_fit_are_refused_and_known_ones_go_on() -> None:
    brain = Brain(most=1)
    await brain.receive(batch((1,), node="n1"), ANYBODY)
    with pytest.raises(TooManyNodesError):
        await brain.receive(batch((1,), node="n2"), ANYBODY)
    assert await brain.receive(batch((2,), node="n1"), ANYBODY) == Ack("e1", 2, form=COLUMNS_FORM)


async def test_an_agent_that_asks_learns_what_is_stored() -> None:
    brain = Brain()
    assert await brain.receiver.acknowledged("n1", "e1", ANYBODY) == Ack("e1", 0, form=COLUMNS_FORM)
    await brain.receive(batch((1, 2)), ANYBODY)
    assert await brain.receiver.acknowledged("n1", "e1", ANYBODY) == Ack("e1", 2, form=COLUMNS_FORM)
    assert await brain.receiver.acknowledged("n1", "e2", ANYBODY) == Ack("e2", 0, form=COLUMNS_FORM)


def records(first: int = 1, count: int = 2, *, writer: str = "n1") -> StreamBatch:
    return StreamBatch(writer, "e1", first, tuple({"n": first + i} for i in range(count)))


def columns_of(form: ReportColumns, seq: int, path: str) -> ColumnBatch:
    one = replace(busy_report(), summaries=(usage(path),))
    return decode_columns(form.encode("n1", "e1", [(seq, form.record(one))]))


async def test_columns_are_stored_and_shown_and_their_series_named_once() -> None:
    brain, form = Brain(), ReportColumns()
    form.acknowledged(Ack("e1", 0, form=COLUMNS_FORM))
    for seq, path, named in ((1, "/a", 1), (2, "/a", 1), (3, "/b", 2)):
        ack = await brain.receive(columns_of(form, seq, path), ANYBODY)
        assert ack == Ack("e1", seq, form=COLUMNS_FORM, naming=1, named=named)
        assert await brain.receiver.acknowledged("n1", "e1", ANYBODY) == ack
        form.acknowledged(ack)
    [shown] = brain.nodes.all()
    assert (shown.seq, shown.report) == (3, busy_report())
    assert shown.sums.processes == len(busy_report().processes)


async def test_a_brain_that_was_restarted_asks_for_the_names_and_stores_nothing_without() -> None:
    brain, form = Brain(), ReportColumns()
    form.acknowledged(Ack("e1", 5, form=COLUMNS_FORM))
    form.record(replace(busy_report(), summaries=(usage("/a"),)))
    form.acknowledged(Ack("e1", 5, form=COLUMNS_FORM, naming=1, named=1))
    with pytest.raises(UnknownSeriesError):
        await brain.receive(columns_of(form, 6, "/a"), ANYBODY)
    assert brain.store.points == {}
    form.acknowledged(await brain.receiver.acknowledged("n1", "e1", ANYBODY))
    assert (await brain.receive(columns_of(form, 6, "/a"), ANYBODY)).named == 1


async def test_points_of_a_series_beyond_its_names_are_refused() -> None:
    brain, form = Brain(), ReportColumns()
    form.acknowledged(Ack("e1", 0, form=COLUMNS_FORM))
    batch = replace(columns_of(form, 1, "/a"), names=())
    with pytest.raises(UnknownSeriesError):
        await brain.receive(batch, ANYBODY)


class StreamBrain:
    def __init__(self) -> None:
        self.store = MemoryStreams()
        self.meter = MemoryMeter()
        self.receiver = StreamReceiver(
            self.store,
            {"grants": "agent", "decisions": "admission"},
            fake_process(clock=ManualClock(NOW), meter=self.meter),
        )

    def counted(self, result: str) -> float:
        return self.meter.value(names.STREAM_RECORDS, stream="grants", result=result)


async def test_records_are_stored_once_and_counted() -> None:
    brain = StreamBrain()
    agent = Caller("agent", "n1")
    assert await brain.receiver.receive("grants", records(), agent) == Ack("e1", 2)
    assert await brain.receiver.receive("grants", records(2, 3), agent) == Ack("e1", 4)
    assert await brain.receiver.receive("grants", records(7, 1), agent) == Ack("e1", 7)
    assert [one["n"] for one in brain.store.records["grants", "n1"]] == [1, 2, 3, 4, 7]
    assert [brain.counted(result) for result in ("stored", "repeated", "lost")] == [5, 1, 2]
    assert await brain.receiver.acknowledged("grants", "n1", "e1", agent) == Ack("e1", 7)


@pytest.mark.parametrize(
    ("stream", "writer", "caller"),
    [
        ("grants", "n2", Caller("agent", "n1")),
        ("grants", "n1", Caller("admission", "n1")),
        ("decisions", "n1", Caller("agent", "n1")),
        ("decisions", "pod-2", Caller("admission", "pod-1")),
    ],
)
async def test_records_of_another_writer_are_forbidden(
    stream: str, writer: str, caller: Caller
) -> None:
    brain = StreamBrain()
    with pytest.raises(ForbiddenNodeError):
        await brain.receiver.receive(stream, records(writer=writer), caller)
    with pytest.raises(ForbiddenNodeError):
        await brain.receiver.acknowledged(stream, writer, "e1", caller)
    assert brain.store.records == {}


@pytest.mark.parametrize("caller", [Caller("admission", "n1"), LOCAL])
async def test_each_stream_has_its_writer(caller: Caller) -> None:
    brain = StreamBrain()
    assert await brain.receiver.receive("decisions", records(), caller) == Ack("e1", 2)


async def test_records_out_of_bounds_are_not_stored() -> None:
    brain = StreamBrain()
    with pytest.raises(RefusedBatchError):
        await brain.receiver.receive("grants", records(0), ANYBODY)
    assert brain.store.records == {}
