from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from nemutator_common.wire import Summary
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.kill_noting import KillNoting
from nemutator_controller.sizing.killed_containers import KilledContainer
from nemutator_controller.sizing.usages import Usages

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.sizing import learn

MIB = 1 << 20
CART = ContainerKey("shop", "Deployment", "cart", "app")


@dataclass(frozen=True)
class ToldKills:
    """A `KilledContainers` of what a test says, which ends."""

    told: tuple[KilledContainer, ...]

    async def changes(self) -> AsyncIterator[KilledContainer]:
        for one in self.told:
            yield one


class Play:
    def __init__(self) -> None:
        self.clock, self.usages = ManualClock(), Usages(most=10)
        self.now = self.clock.now()
        used = Summary(
            path="/p",
            pod_uid="u1",
            container_id="c",
            from_at=self.now - 15,
            to_at=self.now,
            cpu_cores=0.1,
            memory_bytes=20 * MIB,
        )
        learn(self.usages, [(CART, used)], now=self.now)

    async def told(self, *kills: KilledContainer) -> None:
        await KillNoting(self.usages, ToldKills(kills), fake_process(clock=self.clock)).run()

    def kill(self, ago: float = 0.0, requested: float = 50.0 * MIB) -> KilledContainer:
        return KilledContainer(key=CART, pod_uid="u1", at=self.now - ago, requested=requested)

    def needed(self) -> tuple[int, int]:
        [seen] = self.usages.seen([CART], now=self.now)
        return seen.memory_needed, seen.kills


async def test_a_kill_says_what_was_missing_beyond_the_request() -> None:
    play = Play()
    assert play.needed() == (0, 0)
    # The pod's status says it again with every change of the pod.
    await play.told(play.kill(), play.kill())
    assert play.needed() == (150 * MIB, 1)


async def test_a_kill_from_before_this_brain_raises_nothing_that_it_has_raised() -> None:
    play = Play()
    await play.told(play.kill())
    play.clock.jump(60)
    await play.told(play.kill(requested=500.0 * MIB))
    assert play.needed() == (150 * MIB, 1)


async def test_a_kill_while_no_brain_ran_counts() -> None:
    play = Play()
    play.clock.jump(60)
    await play.told(play.kill())
    assert play.needed() == (150 * MIB, 1)


async def test_what_nobody_has_reported_is_left_out_and_a_clock_ahead_counts_as_now() -> None:
    play = Play()
    stranger = ContainerKey("shop", "Deployment", "none", "app")
    await play.told(replace(play.kill(), key=stranger), play.kill(ago=-1e9))
    assert play.needed() == (150 * MIB, 1)
    assert len(play.usages) == 1


async def test_a_kill_before_the_first_point_of_its_day_counts() -> None:
    play = Play()
    play.clock.jump(86_400)
    play.now = play.clock.now()
    await play.told(play.kill())
    assert play.needed() == (150 * MIB, 1)
