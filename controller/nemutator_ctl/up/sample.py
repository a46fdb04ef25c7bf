"""Runs the sample, and makes sure that there is something to see: a secret, a mutation, a flame
graph. A new user then tries each of the four jobs by one command.

Nothing else needs any of it: what fails is told, and everything else goes on.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.errors import OperatorError

from nemutator_ctl.up import sample_objects
from nemutator_ctl.up.child import Child
from nemutator_ctl.up.command_lines import Typed
from nemutator_ctl.up.sample_objects import PutUp

log = logging.getLogger(__name__)

STEP_S = 1.0
"""Between two checks of what takes its time."""

BUILT_WITHIN_S = 300.0
"""For a Go that must be fetched first, on a slow line."""

PROFILED_WITHIN_S = 60.0


class SampleApi(Protocol):
    """What is asked of the other processes; every call may raise an `OperatorError`."""

    async def put_up(self) -> PutUp:
        """Store a secret and a manifest that a policy changes; what is there stays as it is."""
        ...

    async def is_go(self, pid: int) -> bool:
        """Whether *pid* is known to be a Go program: while it is built, it is not."""
        ...

    async def profile(self, pid: int) -> str:
        """Ask for a profile of it; its id."""
        ...

    async def failure(self, profile: str) -> str | None:
        """Why it was not made, for people: empty when it was, None while it is being made."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    child: Child
    needed: tuple[Child, ...]
    """Those that must be ready before anything can be put up."""
    api: SampleApi
    clock: Clock
    typed: Typed
    objects: Path
    """Where the brain keeps manifests."""
    say: Callable[[str], None]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_running(), name="run the sample")
            tasks.create_task(self._show(), name="show the sample")

    async def _keep_running(self) -> None:
        try:
            await self.child.run()
        except OperatorError as error:
            log.warning("no_sample", {names.REASON: error.what})
            self.child.problem = error.what

    async def _show(self) -> None:
        for child in self.needed:
            while child.problem is not None:
                await self.clock.sleep(STEP_S)
        try:
            there = await self.api.put_up()
            self.say(sample_objects.to_try(there, self.typed, objects=self.objects))
            self.say(await self._profiled())
        except OperatorError as error:
            self.say(sample_objects.not_shown(str(error)))
        # The supervisor would end everything if this body ended.
        await asyncio.Event().wait()

    async def _profiled(self) -> str:
        """Profile the sample; what there is to say of it."""
        pid = await self._go_program()
        if pid is None:
            return sample_objects.not_shown("the sample does not run; its own message is above")
        profile = await self.api.profile(pid)
        deadline = self.clock.monotonic() + PROFILED_WITHIN_S
        while self.clock.monotonic() < deadline:
            failure = await self.api.failure(profile)
            if failure is not None:
                made = sample_objects.profiled(pid, self.typed)
                return sample_objects.not_shown(failure) if failure else made
            await self.clock.sleep(STEP_S)
        return sample_objects.not_shown("its first profile has not come")

    async def _go_program(self) -> int | None:
        deadline = self.clock.monotonic() + BUILT_WITHIN_S
        while self.clock.monotonic() < deadline:
            pid = self.child.pid
            if pid is not None and self.child.problem is None and await self.api.is_go(pid):
                return pid
            await self.clock.sleep(STEP_S)
        return None
