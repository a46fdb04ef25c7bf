import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nemutator_agent.windows.choosing import EVERY_S, HOLDS_S, PodChoosing
from nemutator_common import names
from nemutator_common.shipping.links import LinkUnavailableError
from nemutator_common.windows import MOST_CANDIDATES

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.window_parts import observed


@dataclass
class Brain:
    """The `PodChoices`."""

    chosen_uids: set[str] = field(default_factory=set)
    away: bool = False
    asked: list[list[str]] = field(default_factory=list)

    async def chosen(self, uids: Sequence[str]) -> list[str]:
        self.asked.append(list(uids))
        if self.away:
            raise LinkUnavailableError("connection", "no brain answers")
        return [uid for uid in uids if uid in self.chosen_uids]


class Node:
    def __init__(self) -> None:
        self.brain, self.clock, self.meter = Brain(), ManualClock(), MemoryMeter()
        self.pods = PodChoosing(self.brain, fake_process(clock=self.clock, meter=self.meter))

    def allows(self, uid: str | None) -> bool:
        return self.pods.allow(observed(pod_uid=uid))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.pods.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()


async def test_a_pod_is_left_alone_until_the_brain_has_chosen_it() -> None:
    node = Node()
    node.brain.chosen_uids.add("a")
    async with node.running():
        assert not node.allows("a")
        assert not node.allows("b")
        await node.clock.advance(EVERY_S)
        assert node.allows("a")
        assert not node.allows("b")
    assert node.brain.asked == [["a", "b"]]


async def test_a_pod_that_opts_out_is_left_alone_at_the_next_answer() -> None:
    node = Node()
    node.brain.chosen_uids.add("a")
    async with node.running():
        node.allows("a")
        await node.clock.advance(EVERY_S)
        assert node.allows("a")
        node.brain.chosen_uids.clear()
        await node.clock.advance(EVERY_S)
        assert not node.allows("a")


async def test_without_the_brain_all_are_left_alone_soon() -> None:
    node = Node()
    node.brain.chosen_uids.add("a")
    async with node.running():
        node.allows("a")
        await node.clock.advance(EVERY_S)
        node.brain.away = True
        for _ in range(int(HOLDS_S / EVERY_S) - 1):
            assert node.allows("a")
            await node.clock.advance(EVERY_S)
        assert node.allows("a")
        await node.clock.advance(EVERY_S)
        assert not node.allows("a")
    failures = node.meter.value(names.UPLINK_FAILURES, stream="windows", reason="connection")
    assert failures == HOLDS_S / EVERY_S


async def test_what_runs_beside_the_pods_of_a_node_is_left_alone() -> None:
    node = Node()
    async with node.running():
        assert not node.allows(None)
        await node.clock.advance(EVERY_S)
        assert not node.allows(None)
    assert not node.brain.asked


async def test_a_question_is_bounded() -> None:
    node = Node()
    async with node.running():
        for number in range(MOST_CANDIDATES + 5):
            node.allows(str(number))
        await node.clock.advance(EVERY_S)
    assert [len(uids) for uids in node.brain.asked] == [MOST_CANDIDATES]
