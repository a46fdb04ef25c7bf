"""Child processes that a test directs; `tests/contract/processes` holds them to the real ones."""

import asyncio
from collections.abc import Callable

from nemutator_common.errors import OperatorError
from nemutator_ctl.up.child import ChildProcess
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import Ended, Scheduling

SIGTERM, SIGKILL = Ended(-15), Ended(-9)


class FakeChild:
    """Runs until it is told to end: by the test, or by its supervisor when it listens to that."""

    def __init__(self, pid: int, command: Command) -> None:
        self.pid = pid
        self.command = command
        self.problem: str | None = None
        """Why it says that it is not ready."""
        self.answers = True
        """Whether it answers when it is asked for its health."""
        self.state = "S"
        """What the kernel says that it does: a letter, as in /proc."""
        self.waited_s = 0.0
        """For how long it has waited for a processor."""
        self.obeys = True
        """Whether it ends when it is asked to."""
        self.mortal = True
        """Whether its supervisor may kill it."""
        self.events: list[str] = []
        self._ended = asyncio.Event()
        self._how: Ended | None = None

    def end(self, how: Ended) -> None:
        if self._how is None:
            self._how = how
            self._ended.set()

    def poll(self) -> Ended | None:
        return self._how

    async def ended(self) -> Ended:
        await self._ended.wait()
        assert self._how is not None
        return self._how

    def scheduling(self) -> Scheduling:
        return Scheduling(self.state, self.waited_s)

    def ask_to_stop(self) -> None:
        self.events.append("asked")
        if self.obeys:
            self.end(SIGTERM)

    def kill(self) -> bool:
        self.events.append("killed")
        if self.mortal:
            self.end(SIGKILL)
        return self.mortal


class FakeProcesses:
    """Starts what the test's *made* says; remembers all of them in the order of their starts."""

    def __init__(self, made: Callable[[FakeChild], None] = lambda child: None) -> None:
        self.children: list[FakeChild] = []
        self.refusal: OperatorError | None = None
        self.questions = 0
        """How often a child was asked whether it is ready."""
        self._made = made

    def start(self, command: Command) -> ChildProcess:
        if self.refusal is not None:
            raise self.refusal
        child = FakeChild(100 + len(self.children), command)
        self._made(child)
        self.children.append(child)
        return child

    @property
    def last(self) -> FakeChild:
        return self.children[-1]

    async def problem(self) -> str | None:
        """What the last child says of itself."""
        self.questions += 1
        return self.last.problem

    async def answers(self) -> bool:
        """Whether the last child answers."""
        return self.last.answers
