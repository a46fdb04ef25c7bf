"""Waits until everything stands, or has had time to, and tells the person so once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.clocks import Clock

from nemutator_ctl.up.announcement import Standing, Unseen
from nemutator_ctl.up.keeping import STEP_S, Keeper

PATIENCE_S = 20.0
"""For a slow machine to start two interpreters; then what stands so far is told."""


@dataclass(frozen=True, slots=True)
class Announcer:
    """Tells about *keepers* once *begun* is set: before that, a person is being asked."""

    keepers: Sequence[Keeper]
    notes: Mapping[str, str]
    begun: asyncio.Event
    clock: Clock
    link: Callable[[], Awaitable[str | None]]
    unseen: Callable[[], Awaitable[Sequence[Unseen] | None]]
    """What `observe` cannot see; None while it has not reported."""
    say: Callable[[Sequence[Standing], Sequence[Unseen], str | None], None]

    async def run(self) -> None:
        await self.begun.wait()
        deadline = self.clock.monotonic() + PATIENCE_S
        unseen = None
        while self.clock.monotonic() < deadline:
            if all(keeper.problem is None for keeper in self.keepers):
                unseen = await self.unseen()
                if unseen is not None:
                    break
            await self.clock.sleep(STEP_S)
        link = await self.link()
        self.say([self._standing(keeper) for keeper in self.keepers], unseen or (), link)
        # A body that ends would end them all.
        await asyncio.Event().wait()

    def _standing(self, keeper: Keeper) -> Standing:
        note = self.notes.get(keeper.name, "")
        return Standing(keeper.name, keeper.pid, note, keeper.problem)
