from nemutator_common import names
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.refreshing import USABLE_S, KeptNodesSnapshot
from nemutator_controller.placement.telling import ROUND_S, TalkerTelling

from tests.controller.placement.test_talker_grades import CACHE, talks
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


class Source:
    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.rate, self.known = clock, 1e6, True
        self.taken = 0

    def has_flows(self) -> bool:
        return self.rate > 0

    def node_of(self, uid: str) -> str | None:
        return ""

    async def take(self) -> NodesSnapshot | None:
        self.taken += 1
        return talks({CACHE: self.rate}, taken_at=self.clock.now()) if self.known else None


async def test_what_was_told_stays_while_nodes_are_not_known_and_changes_with_them() -> None:
    clock, meter = ManualClock(), MemoryMeter()
    source, process = Source(clock), fake_process(clock=clock, meter=meter)
    telling = TalkerTelling(KeptNodesSnapshot(source, process), process)
    async with in_background(telling.run(), clock):
        assert telling.told.items == ()
        await clock.advance(2 * ROUND_S)
        before = telling.told, telling.tag
        assert len(telling.told.items) == 1
        source.known, source.rate = False, 0.0
        await clock.advance(USABLE_S + 10 * ROUND_S)
        assert (telling.told, telling.tag) == before
        source.known = True
        await clock.advance(10 * ROUND_S)
        assert telling.told.items == ()
        assert telling.tag != before[1]
    assert meter.value(names.TALKING_WORKLOADS, state="told") == 0


async def test_where_nobody_tells_of_flows_nodes_are_not_counted_for_it_until_somebody_does() -> (
    None
):
    clock, meter = ManualClock(), MemoryMeter()
    source, process = Source(clock), fake_process(clock=clock, meter=meter)
    telling = TalkerTelling(KeptNodesSnapshot(source, process), process)
    source.rate = 0.0
    async with in_background(telling.run(), clock):
        await clock.advance(5 * ROUND_S)
        assert source.taken == 0
        assert meter.value(names.TALKING_WORKLOADS, state="told") == 0
        source.rate = 1e6
        await clock.advance(2 * ROUND_S)
        assert len(telling.told.items) == 1
        # What was told is taken back, however few flows there are then.
        source.rate = 0.0
        await clock.advance(10 * ROUND_S)
        assert not telling.told.items
        taken = source.taken
        await clock.advance(5 * ROUND_S)
        assert source.taken == taken
