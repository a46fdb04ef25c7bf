"""Child processes as a port: what the engines of `up` need to know of them.

The real ones are `local_processes.py`; `tests/fakes/processes.py` has those that a test directs.
"""

import signal
from dataclasses import dataclass
from typing import Protocol

from nemutator_common.errors import ExitCode


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start."""

    argv: tuple[str, ...]
    raised: bool = False
    """Whether it runs as root through sudo: then its supervisor may not send it signals."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: with an exit *code*, or when negative by that signal."""

    code: int

    @property
    def exit_code(self) -> ExitCode | None:
        """The documented meaning of its code, if it has one."""
        return next((known for known in ExitCode if known == self.code), None)

    def __str__(self) -> str:
        if self.code >= 0:
            known = self.exit_code
            return f"exit code {self.code}" + (f" ({known.meaning})" if known else "")
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


class Child(Protocol):
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
        """Let go of the lifeline, and say so by a signal where that is allowed."""
        ...

    def kill(self) -> bool:
        """End it and what it started at once; False when that is not allowed."""
        ...


class Processes(Protocol):
    def start(self, command: Command) -> Child:
        """Start it, or raise an `OperatorError`."""
        ...
