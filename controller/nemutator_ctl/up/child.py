"""Keeps one child process running until it is cancelled, then drains it."""

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.up import restarts
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import Ended, Scheduling, Silence

log = logging.getLogger(__name__)

STEP_S = 0.05
"""Between two checks of a child that starts or drains: neither takes long."""

SLOWER = 1.1
"""Times longer is each wait than the last while a child starts: it is known a tenth later at most."""

PATIENCE_S = 20.0
"""Enough to start an interpreter on most machines. What waits for a child goes on after it."""

KILLED_S = 0.2
"""Time for the kernel to remove what was killed."""

ASK_AGAIN_S = 10.0
"""Between two questions whether a child answers, as kubelet's probes."""

MISSED_AGAIN_S = 1.0
"""Until it is asked again when it did not."""


class Health(Protocol):
    """What a child says of itself; both end soon, whatever it does."""

    async def problem(self) -> str | None:
        """Why it is not ready; None when it is."""
        ...

    async def answers(self) -> bool:
        """Whether it answers at all."""
        ...


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

    def scheduling(self) -> Scheduling:
        """What the kernel lets it do."""
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


@dataclass(kw_only=True, slots=True)
class Child:
    """One child, supervised. Others read how it is in its plain attributes."""

    name: str
    command: Command
    processes: Processes
    health: Health | None
    """None for one that serves nothing: it is ready when it runs."""
    clock: Clock
    roll: Callable[[], float]
    drain_s: float
    after: "Child | None" = None
    pid: int | None = None
    problem: str | None = "not started yet"
    """Why it is not ready; None once it is."""
    note: str = ""
    """What people should know about how it runs."""
    _preferred: Preferred | None = None
    _ready_at: float = math.inf
    _has_worked: bool = False

    def prefer(self, preferred: Preferred) -> None:
        """Start it in this way from its next life on."""
        self._preferred = preferred if preferred.command != self.command else None

    async def run(self) -> None:
        """Run it again and again; returns by cancellation or an `OperatorError` only."""
        if self.after is not None:
            self.problem = f"it waits for {self.after.name}"
            await self.after.wait_ready(within_s=PATIENCE_S)
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
        deadline = self.clock.monotonic() + within_s
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
                ready_s=self.clock.monotonic() - self._ready_at,
                has_worked=self._has_worked,
                roll=self.roll(),
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
            await self.clock.sleep(restart.delay_s)

    async def _live(self, command: Command) -> Ended:
        """One life of the child. Whatever ends the wait for its end, the child is not left behind."""
        process = self.processes.start(command)
        self.pid, self.problem, self._ready_at = process.pid, "starting", math.inf
        try:
            async with asyncio.TaskGroup() as tasks:
                watching = [tasks.create_task(self._become_ready(process))]
                if self.health is not None:
                    watching.append(tasks.create_task(self._end_if_hung(process, self.health)))
                ended = await process.ended()
                for task in watching:
                    task.cancel()
            return ended
        finally:
            self.problem = "not running"
            if process.poll() is None:
                await self._drain(process)

    async def _become_ready(self, process: ChildProcess) -> None:
        step_s = STEP_S
        while self.health is not None and (problem := await self.health.problem()) is not None:
            self.problem = problem
            await self.clock.sleep(step_s)
            # Asking takes CPU time, of which a slow machine has none to spare for its start.
            step_s = min(step_s * SLOWER, MISSED_AGAIN_S)
        self.problem, self._ready_at, self._has_worked = None, self.clock.monotonic(), True
        log.info("child_ready", {names.PROCESS: self.name, names.PID: process.pid})

    async def _end_if_hung(self, process: ChildProcess, health: Health) -> None:
        """Ask it again and again; what hangs is ended, so that another can take its place."""
        silence, looked_at, before = Silence(), self.clock.monotonic(), process.scheduling()
        while (hung := silence.hung(started=math.isfinite(self._ready_at))) is None:
            answers = await health.answers()
            await self.clock.sleep(ASK_AGAIN_S if answers else MISSED_AGAIN_S)
            passed_s, looked_at = self.clock.monotonic() - looked_at, self.clock.monotonic()
            now = process.scheduling()
            silence = Silence() if answers else silence.longer(passed_s, before, now)
            before = now
        keys = {names.PROCESS: self.name, names.PID: process.pid, names.REASON: hung}
        log.warning("child_hung", keys)
        self.problem = hung
        await self._drain(process)

    async def _drain(self, process: ChildProcess) -> None:
        asked_at = self.clock.monotonic()
        process.ask_to_stop()
        try:
            if await self._gone(process, self.drain_s):
                return
        except asyncio.CancelledError:
            # A second cancellation leaves no time, and the child must not be left behind.
            process.kill()
            raise
        keys = {
            names.PROCESS: self.name,
            names.PID: process.pid,
            names.DURATION_MS: round((self.clock.monotonic() - asked_at) * 1e3),
        }
        if not process.kill():
            log.error("child_left_behind", keys)
            return
        log.warning("child_killed", keys)
        await self._gone(process, KILLED_S)

    async def _gone(self, process: ChildProcess, within_s: float) -> bool:
        deadline = self.clock.monotonic() + within_s
        while process.poll() is None:
            if not await self._step(deadline):
                return False
        return True

    async def _step(self, deadline: float) -> bool:
        """Wait for the next check, but not beyond *deadline*; False when that has passed."""
        left_s = deadline - self.clock.monotonic()
        if left_s <= 0:
            return False
        await self.clock.sleep(min(STEP_S, left_s))
        return True
