import itertools

from nemutator_common.secret import Secret
from nemutator_controller.access.one_time_links import (
    LINK_S,
    MOST_LINKS,
    MOST_SESSIONS,
    OneTimeLinks,
)

from tests.fakes.brain_stores import MemorySessions
from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process


class Standing:
    def __init__(self, store: MemorySessions | None = None) -> None:
        self.clock = ManualClock()
        self.store = store or MemorySessions()
        numbers = itertools.count()
        self.links = OneTimeLinks(
            self.store,
            fake_process(clock=self.clock),
            session_s=1000,
            fresh=lambda: Secret(f"secret {next(numbers)}"),
        )

    async def signed_in(self) -> str:
        token = await self.links.redeem(self.links.offer().reveal())
        assert token is not None
        return token.reveal()


async def test_a_link_gives_a_session_and_works_once() -> None:
    brain = Standing()
    key = brain.links.offer().reveal()
    token = await brain.links.redeem(key)
    assert token is not None
    assert brain.links.admits(token.reveal())
    assert await brain.links.redeem(key) is None


async def test_a_link_is_good_for_ten_minutes() -> None:
    brain = Standing()
    key = brain.links.offer().reveal()
    await brain.clock.advance(LINK_S)
    assert await brain.links.redeem(key) is None


async def test_a_link_is_no_session_and_a_session_no_link() -> None:
    brain = Standing()
    key = brain.links.offer().reveal()
    assert not brain.links.admits(key)
    assert await brain.links.redeem(await brain.signed_in()) is None


async def test_the_oldest_link_and_the_oldest_session_make_room() -> None:
    brain = Standing()
    first = brain.links.offer().reveal()
    for _ in range(MOST_LINKS):
        await brain.clock.advance(1)
        brain.links.offer()
    assert await brain.links.redeem(first) is None
    tokens = []
    for _ in range(MOST_SESSIONS + 1):
        await brain.clock.advance(1)
        tokens.append(await brain.signed_in())
    assert [brain.links.admits(token) for token in tokens] == [False] + [True] * MOST_SESSIONS


async def test_a_session_outlives_the_brain_but_not_its_time() -> None:
    before = Standing()
    token = await before.signed_in()
    after = Standing(before.store)
    assert not after.links.admits(token)
    await after.links.restore()
    assert after.links.admits(token)
    await after.clock.advance(1000)
    assert not after.links.admits(token)


async def test_a_full_disk_locks_nobody_out() -> None:
    brain = Standing()
    brain.store.broken = "full"
    assert brain.links.admits(await brain.signed_in())


async def test_nobody_without_a_token_is_let_in() -> None:
    assert not Standing().links.admits(None)
    assert not Standing().links.admits("")
