import asyncio

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.samples import FORGOTTEN_S
from nemutator_controller.sizing.saving import AT_ONCE, EVERY_S, PART, STEP, UsageSaver
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sizing import MemoryUsages, learn


class Bench:
    def __init__(self, *, at_once: int = AT_ONCE) -> None:
        self.clock, self.meter = ManualClock(NOW), MemoryMeter()
        self.store, self.usages = MemoryUsages(), Usages(most=2000)
        self.saver = UsageSaver(
            self.usages,
            self.store,
            process=fake_process(meter=self.meter, clock=self.clock),
            at_once=at_once,
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


async def test_of_many_rows_those_that_have_waited_longest_are_saved() -> None:
    bench = Bench(at_once=2)
    keys = [key(f"o{n}") for n in range(5)]
    on_disk: list[set[ContainerKey]] = []
    for _ in range(3):
        learn(bench.usages, [(one, summary()) for one in keys], now=NOW)
        await bench.saver.save()
        on_disk.append(set(keys) - set(bench.usages.changes()[0]))
        # What comes later comes last, and so do those that have changed again since they were saved.
        keys = [*keys, key(f"later{len(keys)}")]
    first, second, third = ({one.owner for one in some} for some in on_disk)
    assert [len(first), len(second), len(third)] == [2, 2, 2]
    assert not first & second
    # One that came when others had been saved waits behind those that changed again before.
    assert "later5" not in first | second | third
    assert first | second | third == {"o0", "o1", "o2", "o3", "o4"}


@given(
    st.integers(1, 3),
    st.lists(st.sets(st.integers(0, 24)), min_size=1, max_size=PART + 5),
)
async def test_each_change_is_on_disk_after_so_many_saves_and_all_are_at_the_end(
    at_once: int, used: list[set[int]]
) -> None:
    bench = Bench(at_once=at_once)
    keys = [key(f"o{n}") for n in range(25)]
    points: list[dict[ContainerKey, int]] = []
    for some in used:
        learn(bench.usages, [(keys[n], summary()) for n in sorted(some)], now=NOW)
        points.append({one: was.points for one, was in bench.usages.kept(keys).items()})
        await bench.saver.save()
        if len(points) >= PART:
            for one, least in points[-PART].items():
                assert bench.store.kept[one].points >= least
    await bench.saver.save_all()
    assert {one: was.points for one, was in bench.store.kept.items()} == points[-1]


async def test_as_it_ends_all_of_it_is_kept() -> None:
    bench = Bench(at_once=1)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.saver.run())
        await bench.clock.until_sleeping()
        learn(bench.usages, [(key(name), summary()) for name in "abc"], now=NOW)
        task.cancel()
    assert set(bench.store.kept) == {key(name) for name in "abc"}
