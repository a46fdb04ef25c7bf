import asyncio

from nemutator_common import names
from nemutator_controller.sizing.samples import FORGOTTEN_S
from nemutator_controller.sizing.saving import EVERY_S, STEP, UsageSaver
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sizing import MemoryUsages, learn


class Bench:
    def __init__(self) -> None:
        self.clock, self.meter = ManualClock(NOW), MemoryMeter()
        self.store, self.usages = MemoryUsages(), Usages(most=2000)
        self.saver = UsageSaver(
            self.usages, self.store, process=fake_process(meter=self.meter, clock=self.clock)
        )


async def test_it_is_kept_again_and_again_and_once_more_at_the_end() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.saver.run())
        await bench.clock.until_sleeping()
        learn(bench.usages, [(key("a"), summary())], now=NOW)
        await bench.clock.advance(EVERY_S)
        assert set(bench.store.kept) == {key("a")}
        learn(bench.usages, [(key("b"), summary())], now=NOW)
        task.cancel()
    assert set(bench.store.kept) == {key("a"), key("b")}


async def test_another_life_goes_on_with_what_was_kept() -> None:
    bench, after = Bench(), Bench()
    learn(bench.usages, [(key("a"), summary(cpu_cores=3.0))], now=NOW)
    await bench.saver.save()
    after.store = bench.store
    after.saver = UsageSaver(
        after.usages, after.store, process=fake_process(meter=after.meter, clock=after.clock)
    )
    await after.saver.restore()
    keys = bench.usages.keys()
    assert after.usages.keys() == keys
    assert after.usages.seen(keys, now=NOW) == bench.usages.seen(keys, now=NOW)


async def test_a_store_that_fails_is_tried_again() -> None:
    bench = Bench()
    learn(bench.usages, [(key("a"), summary())], now=NOW)
    bench.store.broken = "full"
    await bench.saver.save()
    assert bench.store.kept == {}
    bench.store.broken = None
    await bench.saver.save()
    assert set(bench.store.kept) == {key("a")}


async def test_what_is_old_is_forgotten_and_removed() -> None:
    bench = Bench()
    learn(bench.usages, [(key("a"), summary())], now=NOW)
    await bench.saver.save()
    await bench.clock.advance(FORGOTTEN_S + 1)
    await bench.saver.save()
    assert bench.store.kept == {}
    assert bench.meter.value(names.USAGES_DROPPED, reason="age") == 1


async def test_many_are_kept_in_steps() -> None:
    bench = Bench()
    samples = [(key(f"o{n}"), summary()) for n in range(STEP + 1)]
    learn(bench.usages, samples, now=NOW)
    await bench.saver.save()
    assert [len(step) for step in bench.store.steps] == [STEP, 1]
    assert len(bench.store.kept) == STEP + 1
