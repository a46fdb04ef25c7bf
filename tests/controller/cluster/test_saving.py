import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.saving import EVERY_S, MOST, STEP, NodeSaver

from tests.fakes.batches import NOW, batch
from tests.fakes.brain_stores import MemoryLatest
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process


class Standing:
    def __init__(self, store: MemoryLatest | None = None, *, most: int = 4) -> None:
        self.clock = ManualClock(NOW)
        self.nodes = Nodes(most=most)
        self.store = store or MemoryLatest()
        self.saver = NodeSaver(
            self.nodes, self.store, forget_after_s=1000, process=fake_process(clock=self.clock)
        )

    def see(self, node: str, seq: int) -> None:
        self.nodes.see(node, "e1", batch((seq,)).envelopes[0], now=self.clock.now())

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.saver.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()


async def test_what_changed_is_saved_at_each_step_and_nothing_else() -> None:
    brain = Standing()
    async with brain.running():
        brain.see("n1", 1)
        brain.see("n2", 1)
        await brain.clock.advance(EVERY_S)
        brain.see("n2", 2)
        await brain.clock.advance(EVERY_S)
    assert brain.store.saved == ["n1", "n2", "n2"]


async def test_the_last_picture_is_saved_while_stopping() -> None:
    brain = Standing()
    async with brain.running():
        brain.see("n1", 1)
    assert brain.store.saved == ["n1"]


async def test_a_restart_shows_what_was_kept_and_does_not_save_it_again() -> None:
    before = Standing()
    before.see("n1", 7)
    await before.saver.save()
    after = Standing(before.store)
    await after.saver.restore()
    assert [(node.name, node.seq, node.restored) for node in after.nodes.all()] == [("n1", 7, True)]
    await after.saver.save()
    assert after.store.saved == ["n1"]


async def test_what_could_not_be_saved_is_saved_the_next_time() -> None:
    brain = Standing()
    brain.see("n1", 1)
    brain.store.broken = "full"
    await brain.saver.save()
    brain.store.broken = None
    await brain.saver.save()
    assert brain.store.saved == ["n1"]


async def test_a_node_that_is_long_gone_is_forgotten_everywhere() -> None:
    brain = Standing()
    brain.see("n1", 1)
    await brain.saver.save()
    await brain.clock.advance(1001)
    await brain.saver.save()
    assert not brain.nodes.all()
    assert not brain.store.nodes


async def test_of_many_nodes_some_are_saved_each_time_and_all_in_turn() -> None:
    brain = Standing(most=MOST + 10)
    names = [f"n{number:04}" for number in range(MOST + 10)]
    for seq in (1, 2):
        for name in names:
            brain.see(name, seq)
        await brain.saver.save()
    assert brain.store.saved == [*names, *names[: MOST - 10]]
    assert max(brain.store.steps) == STEP
    await brain.saver.save()
    await brain.saver.save()
    assert brain.store.saved == [*names, *names[:MOST]], "what did not change is not saved again"


async def test_those_that_wait_longest_are_saved_first() -> None:
    brain = Standing(most=MOST + 10)
    names = [f"n{number:04}" for number in range(MOST + 10)]
    for seq in (1, 2, 3):
        for name in names:
            brain.see(name, seq)
        await brain.saver.save()
    first, second = names[:MOST], [*names[MOST:], *names[: MOST - 10]]
    third = [*names[MOST - 10 : MOST], *names[MOST:], *names[: MOST - 20]]
    assert brain.store.saved == [*first, *second, *third]
