from dataclasses import dataclass, field

import pytest
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.refreshing import (
    EVERY_S,
    LONGEST_S,
    SPARED,
    USABLE_S,
    KeptNodesSnapshot,
)

from tests.controller.placement.nodes import node, snapshot
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process


@dataclass
class Source:
    clock: ManualClock
    known: bool = True
    seconds: float = 0.0
    taken: list[float] = field(default_factory=list)

    def has_flows(self) -> bool:
        return False

    def node_of(self, uid: str) -> str | None:
        return ""

    async def take(self) -> NodesSnapshot | None:
        self.taken.append(self.clock.now())
        if self.seconds:
            await self.clock.sleep(self.seconds)
        return snapshot(node("a"), taken_at=self.clock.now()) if self.known else None


async def test_a_picture_is_taken_again_every_few_seconds_and_not_for_each_question() -> None:
    clock = ManualClock()
    source = Source(clock)
    kept = KeptNodesSnapshot(source, fake_process(clock=clock))
    assert kept.kept() is None
    async with in_background(kept.run(), clock):
        await clock.advance(2 * EVERY_S)
        assert len(source.taken) == 3
        assert kept.kept() is not None
        await kept.fresh()
        assert len(source.taken) == 3


async def test_an_old_picture_says_nothing_about_now() -> None:
    clock = ManualClock()
    source = Source(clock)
    kept = KeptNodesSnapshot(source, fake_process(clock=clock))
    assert await kept.fresh() is not None
    source.known = False
    await clock.advance(USABLE_S - 1)
    assert await kept.fresh() is not None
    await clock.advance(2)
    assert await kept.fresh() is None
    source.known = True
    clock.jump(-10 * USABLE_S)
    assert kept.kept() is None
    assert await kept.fresh() is not None


@pytest.mark.parametrize(("seconds", "every_s"), [(0.1, EVERY_S), (1.0, SPARED), (20.0, LONGEST_S)])
async def test_what_takes_long_is_done_seldom(seconds: float, every_s: float) -> None:
    clock = ManualClock()
    source = Source(clock, seconds=seconds)
    kept = KeptNodesSnapshot(source, fake_process(clock=clock))
    async with in_background(kept.run(), clock):
        await clock.advance(seconds + every_s - 0.5)
        assert len(source.taken) == 1
        await clock.advance(1.0)
        assert len(source.taken) == 2
