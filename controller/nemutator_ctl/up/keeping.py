"""Keeps one child running until it is cancelled, then drains it."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_ctl.up import restarts
from nemutator_ctl.up.processes import Child, Command, Ended, Processes

log = logging.getLogger(__name__)

STEP_S = 0.05
"""Between two looks at a child that starts or drains: neither takes long."""

PATIENCE_S = 20.0
"""For a slow machine to start an interpreter: whoever waits for a child goes on then."""

KILLED_S = 0.2
"""For the kernel to take away what was killed."""

Probe = Callable[[], Awaitable[str | None]]
"""Asks a child why it is not ready: None when it is. Ends soon, whatever the child does."""


class Keeper:
    """One child, kept. What others may want to know of it are its plain attributes."""

    def __init__(
        self,
        name: str,
        *,
        processes: Processes,
        probe: Probe,
        clock: Clock,
        roll: Callable[[], float],
        drain_s: float,
    ) -> None:
        self.name = name
        self.pid: int | None = None
        self.problem: str | None = "not started yet"
        """Why it is not ready; None once it is."""
        self.note = ""
        """What a person should know about how it runs; set by whoever decided that."""
        self.command: Command | None = None
        """What its next life is started by; set by whoever knows better than its first."""
        self._processes = processes
        self._probe = probe
        self._clock = clock
        self._roll = roll
        self._drain_s = drain_s
        self._ready_at = math.inf

    async def keep(self, command: Command) -> None:
        """Run *command* again and again; returns by cancellation or an `OperatorError` only."""
        self.command = command
        deaths = 0
        while True:
            ended = await self._live(self.command)
            verdict = restarts.after(
                self.name,
                ended,
                deaths=deaths,
                ready_s=self._clock.monotonic() - self._ready_at,
                roll=self._roll(),
            )
            deaths = verdict.deaths
            log.warning(
                "child_ended",
                {
                    names.PROCESS: self.name,
                    names.PID: self.pid,
                    names.EXIT: ended,
                    names.ATTEMPT: deaths,
                    names.DELAY_S: round(verdict.delay_s, 1),
                },
            )
            await self._clock.sleep(verdict.delay_s)

    async def wait_ready(self, *, within_s: float) -> bool:
        """Wait until the child is ready, and say whether it is."""
        deadline = self._clock.monotonic() + within_s
        while self.problem is not None:
            if not await self._step(deadline):
                return False
        return True

    async def _live(self, command: Command) -> Ended:
        """One life of the child. Whatever ends the wait for its end, the child is not left behind."""
        child = self._processes.start(command)
        self.pid, self.problem, self._ready_at = child.pid, "starting", math.inf
        try:
            while self.problem is not None:
                if (ended := child.poll()) is not None:
                    return ended
                self.problem = await self._probe()
                if self.problem is not None:
                    await self._clock.sleep(STEP_S)
            self._ready_at = self._clock.monotonic()
            log.info("child_ready", {names.PROCESS: self.name, names.PID: child.pid})
            return await child.ended()
        finally:
            self.problem = "not running"
            if child.poll() is None:
                await self._drain(child)

    async def _drain(self, child: Child) -> None:
        asked_at = self._clock.monotonic()
        child.ask_to_stop()
        try:
            if await self._gone(child, self._drain_s):
                return
        except asyncio.CancelledError:
            # Whoever cancels a second time has no time left, and the child may not stay.
            child.kill()
            raise
        keys = {
            names.PROCESS: self.name,
            names.PID: child.pid,
            names.DURATION_MS: round((self._clock.monotonic() - asked_at) * 1e3),
        }
        if not child.kill():
            log.error("child_left_behind", keys)
            return
        log.warning("child_killed", keys)
        await self._gone(child, KILLED_S)

    async def _gone(self, child: Child, within_s: float) -> bool:
        deadline = self._clock.monotonic() + within_s
        while child.poll() is None:
            if not await self._step(deadline):
                return False
        return True

    async def _step(self, deadline: float) -> bool:
        """Wait for the next look, but not beyond *deadline*; False when that has passed."""
        left_s = deadline - self._clock.monotonic()
        if left_s <= 0:
            return False
        await self._clock.sleep(min(STEP_S, left_s))
        return True
