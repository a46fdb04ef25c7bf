import asyncio

from nemutator_common import names
from nemutator_controller.journal.retention import EVERY_S, STEP, Keep, Retention

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import NOW, decision
from tests.fakes.journals import MemoryJournal
from tests.fakes.meters import MemoryMeter


async def filled(count: int) -> MemoryJournal:
    journal = MemoryJournal()
    decisions = [decision(number) for number in range(count)]
    await journal.add(decisions, writer="a", state="answered")
    return journal


async def test_what_is_too_old_or_too_much_goes_and_is_counted() -> None:
    journal, meter = await filled(3 * STEP), MemoryMeter()
    keep = Keep(seconds=2 * STEP + STEP // 2, decisions=STEP)
    clock = ManualClock(NOW + 3 * STEP)
    await Retention(journal, keep, meter=meter, clock=clock).prune()
    assert await journal.count() == STEP
    assert meter.value(names.DECISIONS_DROPPED, reason="age") == STEP // 2
    assert meter.value(names.DECISIONS_DROPPED, reason="count") == 2 * STEP - STEP // 2
    assert meter.value(names.DECISIONS) == STEP
    (newest,) = await journal.entries(namespace=None, name=None, limit=1)
    assert newest.decision.id == f"d{3 * STEP - 1}"


async def test_a_broken_database_is_asked_again_later() -> None:
    journal, meter = await filled(3), MemoryMeter()
    clock = ManualClock(NOW + 1_000)
    retention = Retention(journal, Keep(seconds=10, decisions=9), meter=meter, clock=clock)
    journal.broken = "busy"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(retention.run())
        await clock.until_sleeping()
        journal.broken = None
        assert await journal.count() == 3
        await clock.advance(EVERY_S)
        assert await journal.count() == 0
        task.cancel()
