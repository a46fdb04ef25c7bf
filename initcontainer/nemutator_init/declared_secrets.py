"""Asks the agent until all of the wanted secrets are there, or until it is clear that they never will be.

Clock and socket are arguments.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from nemutator_common.backoff import Backoff

from nemutator_init.answers import (
    AgentAnswer,
    NeverError,
    NotYetError,
    declared_names,
    file_names,
    value_of,
)

T = TypeVar("T")

DECLARED = "/v1/declared"
FILES = "/v1/files"
SECRET = "/v1/secret/"  # noqa: S105 - the beginning of a path

BACKOFF = Backoff(first_s=0.25, longest_s=5.0)

LARGEST_TOGETHER = 256 << 10
"""A pod's volume has room for twice this, because old files stay until the new ones are complete."""


class Agent(Protocol):
    def ask(self, path: str) -> AgentAnswer:
        """Raises NotYetError without an answer."""
        ...


def fetch(
    ask: Callable[[], T],
    *,
    wait_s: float,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    roll: Callable[[], float],
    report: Callable[[str], None],
) -> T:
    """What *ask* returns once it raises no NotYetError; else a NeverError.

    *report* gets the reason of the wait, and a repeated one once.
    """
    deadline = now() + wait_s
    failures, reported = 0, ""
    while True:
        try:
            return ask()
        except NotYetError as reason:
            if now() >= deadline:
                raise NeverError(f"waited {wait_s:g} s; {reason}") from reason
            if str(reason) != reported:
                reported = str(reason)
                report(f"waiting: {reported}")
        failures += 1
        sleep(min(BACKOFF.delay_s(failures, roll=roll()), max(deadline - now(), 0)))


def ask_for_files(agent: Agent) -> tuple[str, ...]:
    """Let the agent write everything that the pod declares; the names of the files. Raises NotYetError,
    NeverError."""
    return file_names(agent.ask(FILES))


def ask_for_declared(agent: Agent) -> dict[str, bytes]:
    """Everything that the pod declares, by name. Raises NotYetError, NeverError."""
    values: dict[str, bytes] = {}
    for name in declared_names(agent.ask(DECLARED)):
        values[name] = ask_for(name, agent)
        if sum(map(len, values.values())) > LARGEST_TOGETHER:
            raise NeverError(
                f"secret {name!r}: all secrets of a pod may have {LARGEST_TOGETHER >> 10} KiB "
                "together; remedy: declare single keys (`path#key`), or fewer secrets"
            )
    return values


def ask_for(name: str, agent: Agent) -> bytes:
    """The value of one secret. Raises NotYetError, NeverError."""
    return value_of(name, agent.ask(f"{SECRET}{name}?raw=1"))
