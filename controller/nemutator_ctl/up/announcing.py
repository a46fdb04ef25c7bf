"""Waits until everything stands, or has had time to, and tells the person so."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from nemutator_common.clocks import Clock

from nemutator_ctl.up.announcement import Standing, Unseen
from nemutator_ctl.up.keeping import PATIENCE_S, STEP_S, Keeper

LATER_STEP_S = 1.0
"""Between two looks at what takes longer than it should."""


@dataclass(frozen=True, slots=True)
class Announcer:
    """Tells about *keepers* once *answered* is set: before that, a person is being asked.

    What does not stand in time is told, too, and everything once more when it does; and again when
    the page has *moved*, for the link that was told is dead then.
    """

    keepers: Sequence[Keeper]
    answered: asyncio.Event
    moved: asyncio.Event
    clock: Clock
    link: Callable[[], Awaitable[str | None]]
    unseen: Callable[[], Awaitable[Sequence[Unseen] | None]]
    """What `observe` cannot see; None while it has not reported."""
    say: Callable[[Sequence[Standing], Sequence[Unseen], str | None], None]

    async def run(self) -> None:
        await self.answered.wait()
        while True:
            unseen = await self._standing(within_s=PATIENCE_S, step_s=STEP_S)
            if unseen is None:
                await self._tell(())
                unseen = await self._standing(within_s=math.inf, step_s=LATER_STEP_S)
            await self._tell(unseen or ())
            await self.moved.wait()
            self.moved.clear()

    async def _standing(self, *, within_s: float, step_s: float) -> Sequence[Unseen] | None:
        """Wait until all are ready and one report is there, for what that cannot contain."""
        deadline = self.clock.monotonic() + within_s
        while self.clock.monotonic() < deadline:
            if all(keeper.problem is None for keeper in self.keepers):
                unseen = await self.unseen()
                if unseen is not None:
                    return unseen
            await self.clock.sleep(step_s)
        return None

    async def _tell(self, unseen: Sequence[Unseen]) -> None:
        link = await self.link()
        standing = [Standing(k.name, k.pid, k.note, k.problem) for k in self.keepers]
        self.say(standing, unseen, link)
