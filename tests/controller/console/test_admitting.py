import itertools

from nemutator_common.secret import Secret
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.sessions import LINK_S, Sessions

from tests.fakes.brain_stores import MemorySessions
from tests.fakes.clocks import ManualClock


class Standing:
    def __init__(self, store: MemorySessions | None = None) -> None:
        self.clock = ManualClock()
        self.store = store or MemorySessions()
        numbers = itertools.count()
        self.door = Doorkeeper(
            Sessions(session_s=1000),
            self.store,
            fresh=lambda: Secret(f"secret {next(numbers)}"),
            clock=self.clock,
        )

    async def signed_in(self) -> str:
        token = await self.door.redeem(self.door.offer().reveal())
        assert token is not None
        return token.reveal()


async def test_a_link_gives_a_session_and_works_once() -> None:
    brain = Standing()
    key = brain.door.offer().reveal()
    token = await brain.door.redeem(key)
    assert token is not None
    assert brain.door.admits(token.reveal())
    assert await brain.door.redeem(key) is None


async def test_a_link_is_good_for_ten_minutes() -> None:
    brain = Standing()
    key = brain.door.offer().reveal()
    await brain.clock.advance(LINK_S)
    assert await brain.door.redeem(key) is None


async def test_a_session_outlives_the_brain_but_not_its_time() -> None:
    before = Standing()
    token = await before.signed_in()
    after = Standing(before.store)
    assert not after.door.admits(token)
    await after.door.restore()
    assert after.door.admits(token)
    await after.clock.advance(1000)
    assert not after.door.admits(token)


async def test_a_full_disk_locks_nobody_out() -> None:
    brain = Standing()
    brain.store.broken = "full"
    assert brain.door.admits(await brain.signed_in())


async def test_nobody_without_a_token_is_let_in() -> None:
    assert not Standing().door.admits(None)
    assert not Standing().door.admits("")
