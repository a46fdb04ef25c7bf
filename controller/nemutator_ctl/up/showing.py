"""Runs the sample, and sees to it that there is something to look at: a secret, a mutation, a
flame graph. A new user then tries each of the four jobs by one command.

None of it is needed by anything else: what fails is told, and everything else goes on.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.errors import OperatorError

from nemutator_ctl.up.keeping import Keeper
from nemutator_ctl.up.processes import Command
from nemutator_ctl.up.trying import Tries

log = logging.getLogger(__name__)

STEP_S = 1.0
"""Between two looks at what takes its time."""

BUILT_WITHIN_S = 300.0
"""For a Go that must be fetched first, on a slow line."""

PROFILED_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Furniture:
    """What was put up to be tried."""

    secret: str
    mutation: str | None
    """Id of a decision that can be taken back; None when there is none (any more)."""


class Stage(Protocol):
    """What is asked of the other processes; every call may raise an `OperatorError`."""

    async def furnish(self) -> Furniture:
        """Put up a secret and a manifest that a policy changes; what is there stays as it is."""
        ...

    async def is_go(self, pid: int) -> bool:
        """Whether *pid* is known to be a Go program: while it is built, it is not."""
        ...

    async def profile(self, pid: int) -> str:
        """Ask for a profile of it; its id."""
        ...

    async def profiled(self, profile: str) -> str | None:
        """How the profile went, for people: empty when it is there, None while it is made."""
        ...


@dataclass(frozen=True, slots=True)
class Showing:
    sample: Keeper
    command: Command
    needed: tuple[Keeper, ...]
    """Those that must stand before anything can be put up."""
    stage: Stage
    clock: Clock
    say: Callable[[Tries], None]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep(), name="keep the sample")
            tasks.create_task(self._show(), name="show the sample")

    async def _keep(self) -> None:
        try:
            await self.sample.keep(self.command)
        except OperatorError as error:
            log.warning("no_sample", {names.REASON: error.what})
            self.sample.problem = error.what

    async def _show(self) -> None:
        for keeper in self.needed:
            while keeper.problem is not None:
                await self.clock.sleep(STEP_S)
        tries = Tries()
        try:
            furniture = await self.stage.furnish()
            tries = Tries(secret=furniture.secret, mutation=furniture.mutation)
            tries = await self._with_profile(tries)
        except OperatorError as error:
            tries = tries.without(str(error))
        self.say(tries)
        # A body that ends would end them all.
        await asyncio.Event().wait()

    async def _with_profile(self, tries: Tries) -> Tries:
        """*tries* with the sample's pid, said once before and once after its first profile."""
        pid = await self._go_program()
        if pid is None:
            return tries.without("the sample does not run; its own message is above")
        self.say(tries.of(pid))
        profile = await self.stage.profile(pid)
        deadline = self.clock.monotonic() + PROFILED_WITHIN_S
        while self.clock.monotonic() < deadline:
            said = await self.stage.profiled(profile)
            if said is not None:
                return tries.seen(pid) if not said else tries.of(pid).without(said)
            await self.clock.sleep(STEP_S)
        return tries.of(pid).without("its first profile has not come")

    async def _go_program(self) -> int | None:
        deadline = self.clock.monotonic() + BUILT_WITHIN_S
        while self.clock.monotonic() < deadline:
            pid = self.sample.pid
            if pid is not None and self.sample.problem is None and await self.stage.is_go(pid):
                return pid
            await self.clock.sleep(STEP_S)
        return None
