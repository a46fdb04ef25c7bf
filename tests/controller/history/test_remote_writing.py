import asyncio

from nemutator_common import names
from nemutator_controller.history.minutes import CELLS
from nemutator_controller.history.remote_writing import AT_ONCE, RemoteWriting
from nemutator_controller.history.written_minutes import SETTLES_S

from tests.controller.history.points import NOW, history, pod, points, quarters
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.remote_write import MemoryReceiver, refused, unavailable

CPU = "nemutator_container_cpu_cores"
SERIES = 5
"""Of one row with CPU and memory."""


class Sender:
    def __init__(self, *, rows: int = 1) -> None:
        self.clock, self.meter = ManualClock(NOW + SETTLES_S), MemoryMeter()
        self.usage, self.receiver = history(most=max(rows, 1)), MemoryReceiver()
        self.series = [pod(f"o{number}") for number in range(rows)]
        process = fake_process(meter=self.meter, clock=self.clock)
        self.writing = RemoteWriting(self.usage, self.receiver, process)
        self.minutes = 0

    def use(self, minutes: int) -> None:
        for _ in range(minutes):
            begin = NOW + 60 * self.minutes
            told = [one for of in range(len(self.series)) for one in quarters(begin, 4, of=of)]
            self.usage.learn("n", points(self.series, told), now=begin + 60)
            self.minutes += 1

    async def running(self, seconds: float) -> None:
        """Let it run for so long."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.writing.run())
            await self.clock.until_sleeping()
            while seconds > 0:
                await self.clock.advance(5.0)
                seconds -= 5.0
            task.cancel()

    def sent(self) -> list[int]:
        """Which minutes have arrived of the first row."""
        if not self.receiver.kept:
            return []
        values = self.receiver.values(CPU, owner="o0")
        return [int((at - NOW) // 60) - 1 for at in values]


async def test_each_minute_is_sent_once_when_it_is_complete() -> None:
    sender = Sender()
    sender.use(4)
    await sender.running(180)
    assert sender.sent() == [0, 1, 2]
    assert sender.meter.value(names.HISTORY_SAMPLES_WRITTEN) == 3 * SERIES


async def test_many_rows_are_several_requests() -> None:
    sender = Sender(rows=AT_ONCE + 1)
    sender.use(1)
    await sender.running(60)
    assert sender.receiver.bodies == 2
    assert len(sender.receiver.kept) == SERIES * (AT_ONCE + 1)


async def test_what_is_refused_is_counted_and_not_sent_again() -> None:
    sender = Sender()
    sender.use(2)
    sender.receiver.fails = [refused()]
    await sender.running(120)
    assert sender.sent() == [1]
    assert sender.meter.value(names.HISTORY_SAMPLES_DROPPED, reason="refused") == SERIES


async def test_while_the_receiver_is_away_minutes_wait_in_their_order() -> None:
    sender = Sender()
    sender.use(6)
    sender.receiver.fails = [unavailable(), unavailable(retry_after_s=100.0), TimeoutError()]
    await sender.running(420)
    assert sender.sent() == list(range(6))


async def test_what_waits_for_longer_than_minutes_are_kept_is_skipped_and_counted() -> None:
    sender = Sender()
    sender.use(1)
    sender.receiver.fails = [unavailable() for _ in range(1000)]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(sender.writing.run())
        await sender.clock.until_sleeping()
        await sender.clock.advance(61.0)
        for _ in range(CELLS + 10):
            sender.use(1)
            await sender.clock.advance(60.0)
        sender.receiver.fails = []
        for _ in range(40):
            await sender.clock.advance(5.0)
        task.cancel()
    dropped = sender.meter.value(names.HISTORY_SAMPLES_DROPPED, reason="unreachable") / SERIES
    skipped = sender.meter.value(names.HISTORY_MINUTES_SKIPPED)
    lost = round(dropped + skipped)
    assert lost >= 10
    # The rest is there, each minute once.
    assert sender.sent() == list(range(lost, sender.sent()[-1] + 1))


async def test_nothing_is_sent_where_nothing_was_reported() -> None:
    sender = Sender()
    await sender.running(300)
    assert sender.receiver.bodies == 0
    sender.use(1)
    sender.clock.jump(-86_400)
    await sender.writing.send_due()
    assert sender.receiver.bodies == 0


async def test_a_receiver_that_does_not_answer_has_a_deadline() -> None:
    sender = Sender()
    sender.writing.send_s = 0.01
    sender.use(2)
    begun = asyncio.Event()

    class Silent(MemoryReceiver):
        async def write(self, body: bytes) -> None:
            if not begun.is_set():
                begun.set()
                await asyncio.Event().wait()
            await super().write(body)

    sender.receiver = Silent()
    sender.writing.receiver = sender.receiver
    async with asyncio.TaskGroup() as group:
        task = group.create_task(sender.writing.run())
        await sender.clock.until_sleeping()
        await sender.clock.advance(60.0)
        await begun.wait()
        await sender.clock.until_sleeping()
        await sender.clock.advance(60.0)
        task.cancel()
    assert 0 in sender.sent()


async def test_a_brain_that_does_not_learn_sends_nothing_until_it_does() -> None:
    sender = Sender()
    sender.use(3)
    sender.usage.learned_at = 0.0
    await sender.running(120)
    assert sender.receiver.bodies == 0
    sender.use(3)
    sender.usage.learned_at = sender.clock.now()
    await sender.running(120)
    assert sender.sent() == [2, 3]
