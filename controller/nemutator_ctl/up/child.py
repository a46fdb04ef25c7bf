"""Keeps one child process running until it is cancelled, then drains it."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, Self

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.up import restarts
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import Ended

log = logging.getLogger(__name__)

STEP_S = 0.05
"""Between two checks of a child that starts or drains: neither takes long."""

PATIENCE_S = 20.0
"""For a slow machine to start an interpreter: whoever waits for a child goes on then."""

KILLED_S = 0.2
"""For the kernel to take away what was killed."""

Probe = Callable[[], Awaitable[str | None]]
"""Asks a child why it is not ready: None when it is. Ends soon, whatever the child does."""


class ChildProcess(Protocol):
    """A process that was started, with a lifeline to it that ends when we do."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> Ended | None:
        """How it ended, or None while it runs; what it had started ends with it."""
        ...

    async def ended(self) -> Ended:
        """Wait for its end, however long that takes."""
        ...

    def ask_to_stop(self) -> None:
        """Close the lifeline, and send a signal too where that is allowed."""
        ...

    def kill(self) -> bool:
        """End it and what it started at once; False when that is not allowed."""
        ...


class Processes(Protocol):
    """Starts processes: really in `processes.py`, as a test directs in `tests/fakes`."""

    def start(self, command: Command) -> ChildProcess:
        """Start it, or raise an `OperatorError`."""
        ...


@dataclass(frozen=True, slots=True)
class Preferred:
    """A command to run instead of a child's own, for as long as that works."""

    command: Command
    until: ExitCode
    """The failure after which the child's own command is run again."""
    given_up: Callable[[OperatorError], None]


class Child:
    """One child, supervised. What others may want to know of it are its plain attributes."""

    def __init__(
        self,
        name: str,
        command: Command,
        *,
        processes: Processes,
        probe: Probe,
        clock: Clock,
        roll: Callable[[], float],
        drain_s: float,
        after: Self | None = None,
    ) -> None:
        self.name = name
        self.command = command
        self.pid: int | None = None
        self.problem: str | None = "not started yet"
        """Why it is not ready; None once it is."""
        self.note = ""
        """What a person should know about how it runs."""
        self._preferred: Preferred | None = None
        self._processes = processes
        self._probe = probe
        self._clock = clock
        self._roll = roll
        self._drain_s = drain_s
        self._after = after
        self._ready_at = math.inf

    def prefer(self, preferred: Preferred) -> None:
        """Start it in this way from its next life on."""
        self._preferred = preferred if preferred.command != self.command else None

    async def run(self) -> None:
        """Run it again and again; returns by cancellation or an `OperatorError` only."""
        if self._after is not None:
            self.problem = f"it waits for {self._after.name}"
            await self._after.wait_ready(within_s=PATIENCE_S)
        while True:
            try:
                await self._live_again_and_again()
            except OperatorError as error:
                preferred, self._preferred = self._preferred, None
                if preferred is None or error.code is not preferred.until:
                    raise
                preferred.given_up(error)

    async def wait_ready(self, *, within_s: float) -> bool:
        """Wait until the child is ready, and say whether it is."""
        deadline = self._clock.monotonic() + within_s
        while self.problem is not None:
            if not await self._step(deadline):
                return False
        return True

    async def _live_again_and_again(self) -> None:
        deaths = 0
        while True:
            ended = await self._live(self._preferred.command if self._preferred else self.command)
            restart = restarts.after(
                self.name,
                ended,
                deaths=deaths,
                ready_s=self._clock.monotonic() - self._ready_at,
                roll=self._roll(),
            )
            deaths = restart.deaths
            log.warning(
                "child_ended",
                {
                    names.PROCESS: self.name,
                    names.PID: self.pid,
                    names.EXIT: ended,
                    names.ATTEMPT: deaths,
                    names.DELAY_S: round(restart.delay_s, 1),
                },
            )
            await self._clock.sleep(restart.delay_s)

    async def _live(self, command: Command) -> Ended:
        """One life of the child. Whatever ends the wait for its end, the child is not left behind."""
        process = self._processes.start(command)
        self.pid, self.problem, self._ready_at = process.pid, "starting", math.inf
        try:
            while self.problem is not None:
                if (ended := process.poll()) is not None:
                    return ended
                self.problem = await self._probe()
                if self.problem is not None:
                    await self._clock.sleep(STEP_S)
            self._ready_at = self._clock.monotonic()
            log.info("child_ready", {names.PROCESS: self.name, names.PID: process.pid})
            return await process.ended()
        finally:
            self.problem = "not running"
            if process.poll() is None:
                await self._drain(process)

    async def _drain(self, process: ChildProcess) -> None:
        asked_at = self._clock.monotonic()
        process.ask_to_stop()
        try:
            if await self._gone(process, self._drain_s):
                return
        except asyncio.CancelledError:
            # Whoever cancels a second time has no time left, and the child may not stay.
            process.kill()
            raise
        keys = {
            names.PROCESS: self.name,
            names.PID: process.pid,
            names.DURATION_MS: round((self._clock.monotonic() - asked_at) * 1e3),
        }
        if not process.kill():
            log.error("child_left_behind", keys)
            return
        log.warning("child_killed", keys)
        await self._gone(process, KILLED_S)

    async def _gone(self, process: ChildProcess, within_s: float) -> bool:
        deadline = self._clock.monotonic() + within_s
        while process.poll() is None:
            if not await self._step(deadline):
                return False
        return True

    async def _step(self, deadline: float) -> bool:
        """Wait for the next check, but not beyond *deadline*; False when that has passed."""
        left_s = deadline - self._clock.monotonic()
        if left_s <= 0:
            return False
        await self._clock.sleep(min(STEP_S, left_s))
        return True
