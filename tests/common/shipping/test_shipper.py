import asyncio
import contextlib
from collections.abc import AsyncIterator

import msgspec
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_common.shipping.batches import encode_reports
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.links import BatchRefusedError, LinkUnavailableError
from nemutator_common.shipping.shipper import BATCH_RECORDS, PART, Shipper
from nemutator_common.wire import LONGEST_PACE_S, Ack

from tests.fakes.brain_link import BrainLink
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reports import report

EPOCH = "e1"


class Bench:
    def __init__(self, *, most: int = 100, call_s: float = 5.0, roll: float = 0.0) -> None:
        self.clock, self.meter, self.readiness = ManualClock(), MemoryMeter(), Readiness()
        self.process = fake_process(
            clock=self.clock, meter=self.meter, readiness=self.readiness, roll=roll
        )
        self.brain = BrainLink()
        self.buffer = Buffer(most=most, most_bytes=1 << 20)
        self.shipper = Shipper(
            process=self.process,
            link=self.brain,
            queue=self.buffer,
            stream="reports",
            writer="n",
            epoch=EPOCH,
            encode=encode_reports,
            call_s=call_s,
            needed=True,
        )

    def put(self, count: int) -> None:
        for _ in range(count):
            self.buffer.put(msgspec.json.encode(report()))
        self.shipper.wake()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.shipper.run())
            yield
            task.cancel()


def unavailable(reason: str = "connection", *, retry_after_s: float = 0) -> LinkUnavailableError:
    return LinkUnavailableError(reason, f"{reason} it is", retry_after_s=retry_after_s)


async def test_reports_arrive_in_order_and_each_once() -> None:
    bench = Bench()
    assert bench.readiness.problems()[PART] == "nothing accepted by the brain yet"
    async with bench.running():
        bench.put(3)
        await bench.brain.until_stored(1, 2, 3)
        bench.put(1)
        await bench.brain.until_stored(1, 2, 3, 4)
    assert PART not in bench.readiness.problems()
    assert bench.meter.value(names.UPLINK_SENT, stream="reports") == 4


async def test_while_the_brain_is_away_reports_wait_and_then_all_arrive() -> None:
    bench = Bench()
    bench.brain.failures.extend([unavailable()] * 3)
    bench.put(2)
    async with bench.running():
        for delay_s in (0.05, 0.1, 0.2):
            await bench.clock.until_sleeping()
            assert bench.readiness.problems()[PART] == "connection it is"
            bench.put(1)
            await bench.clock.advance(delay_s)
        await bench.brain.until_stored(1, 2, 3, 4, 5)
    assert bench.meter.value(names.UPLINK_FAILURES, stream="reports", reason="connection") == 3


async def test_an_answer_that_was_lost_makes_nothing_arrive_twice() -> None:
    bench = Bench()
    bench.brain.loses_answers = True
    bench.put(2)
    async with bench.running():
        await bench.clock.until_sleeping()
        bench.put(1)
        await bench.clock.advance(1)
        await bench.brain.until_stored(1, 2, 3)
    assert [[one.seq for one in batch.envelopes] for batch in bench.brain.batches] == [[1, 2], [3]]


async def test_what_the_buffer_dropped_is_a_gap_and_not_a_lie() -> None:
    bench = Bench(most=2)
    bench.put(5)
    async with bench.running():
        await bench.brain.until_stored(4, 5)
    assert bench.meter.value(names.UPLINK_SENT, stream="reports") == 2


async def test_of_a_refused_batch_only_the_wrong_report_is_lost() -> None:
    bench = Bench()
    refused = BatchRefusedError("malformed", "not a batch")
    truth = Ack(EPOCH, 0)
    bench.brain.failures.extend([truth, refused, refused])
    bench.put(3)
    async with bench.running():
        await bench.brain.until_stored(2, 3)
        bench.put(2)
        await bench.brain.until_stored(2, 3, 4, 5)
    assert bench.meter.value(names.UPLINK_DROPPED, stream="reports", reason="malformed") == 1
    assert [len(batch.envelopes) for batch in bench.brain.batches] == [1, 1, 2]


async def test_only_what_was_refused_together_is_sent_one_by_one() -> None:
    bench = Bench(most=2 * BATCH_RECORDS)
    refused = BatchRefusedError("malformed", "not a batch")
    # The last one of the batch is the wrong one.
    answers: list[Exception | Ack] = [
        Ack(EPOCH, 0),
        refused,
        Ack(EPOCH, BATCH_RECORDS - 1),
        refused,
    ]
    bench.brain.failures.extend(answers)
    bench.put(BATCH_RECORDS + 2)
    async with bench.running():
        await bench.brain.until_stored(BATCH_RECORDS + 1, BATCH_RECORDS + 2)
    assert [len(batch.envelopes) for batch in bench.brain.batches] == [2]


async def test_a_brain_that_says_when_is_believed_up_to_a_minute() -> None:
    bench = Bench()
    bench.brain.failures.extend([unavailable("busy", retry_after_s=86_400)])
    bench.put(1)
    async with bench.running():
        await bench.clock.until_sleeping()
        await bench.clock.advance(59)
        assert bench.brain.stored == {}
        await bench.clock.advance(1)
        await bench.brain.until_stored(1)


async def test_writers_that_were_told_the_same_time_do_not_come_together() -> None:
    bench = Bench(roll=0.75)
    bench.brain.failures.extend([unavailable("busy", retry_after_s=8)])
    bench.put(1)
    async with bench.running():
        await bench.clock.until_sleeping()
        await bench.clock.advance(13.9)
        assert bench.brain.stored == {}
        await bench.clock.advance(0.1)
        await bench.brain.until_stored(1)


async def test_a_brain_that_never_answers_has_a_deadline() -> None:
    bench = Bench(call_s=0.01)
    bench.brain.silent = True
    bench.put(1)
    async with bench.running():
        await bench.clock.until_sleeping()
        assert "did not answer" in bench.readiness.problems()[PART]
        bench.brain.silent = False
        await bench.clock.advance(1)
        await bench.brain.until_stored(1)
    assert bench.meter.value(names.UPLINK_FAILURES, stream="reports", reason="timeout") == 1


async def test_an_answer_that_cannot_be_true_is_none() -> None:
    for lie in (Ack("other", 0), Ack(EPOCH, 99), Ack(EPOCH, -1)):
        bench = Bench()
        bench.brain.failures.append(lie)
        bench.put(1)
        async with bench.running():
            await bench.clock.until_sleeping()
            await bench.clock.advance(1)
            await bench.brain.until_stored(1)
        assert bench.meter.value(names.UPLINK_FAILURES, stream="reports", reason="invalid") == 1


async def test_a_brain_that_stores_nothing_is_not_asked_without_pause() -> None:
    bench = Bench()
    bench.brain.failures.extend([Ack(EPOCH, 0), Ack(EPOCH, 0)])
    bench.put(1)
    async with bench.running():
        await bench.clock.until_sleeping()
        assert len(bench.buffer) == 1


async def test_a_gap_ends_a_batch_because_its_records_are_numbered_from_the_first() -> None:
    bench = Bench()
    bench.put(2)
    bench.buffer.put(b"x" * (1 << 20))
    bench.put(1)
    async with bench.running():
        await bench.brain.until_stored(1, 2, 4)
    assert [[one.seq for one in batch.envelopes] for batch in bench.brain.batches] == [[1, 2], [4]]


async def test_a_process_whose_work_needs_no_brain_stays_ready() -> None:
    bench = Bench()
    bench.readiness.pass_(PART)
    bench.brain.failures.append(unavailable())
    shipper = Shipper(
        process=bench.process,
        link=bench.brain,
        queue=bench.buffer,
        stream="grants",
        writer="n",
        epoch=EPOCH,
        encode=encode_reports,
        call_s=5.0,
    )
    bench.buffer.put(msgspec.json.encode(report()))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(shipper.run())
        await bench.clock.until_sleeping()
        assert bench.readiness.problems() == {}
        await bench.clock.advance(1)
        await bench.brain.until_stored(1)
        task.cancel()
    assert bench.meter.value(names.UPLINK_FAILURES, stream="grants", reason="connection") == 1


async def test_how_often_the_brain_wants_reports_is_known_and_bounded() -> None:
    for asked, believed in ((20.0, 20.0), (1e6, LONGEST_PACE_S), (-1.0, 0.0), (0.0, 0.0)):
        bench = Bench()
        assert bench.shipper.report_every_s == 0
        bench.brain.report_every_s = asked
        bench.put(1)
        async with bench.running():
            await bench.brain.until_stored(1)
            # It asked for its position first, and has that answer already.
            assert bench.shipper.report_every_s == believed
