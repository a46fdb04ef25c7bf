"""How a child ended, and what to do then: start it again, after how long, or give up."""

import signal
from dataclasses import dataclass

from nemutator_common.backoff import Backoff
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError

SETTLED_S = 1.0
"""A child that was ready for this long had started well: its end is the first of a new series."""

MOST_DEATHS = 5
"""Deaths in a row, without a settled life between them, after which a restart is no help."""

BACKOFF = Backoff(first_s=0.3, longest_s=5.0)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: with an exit *code*, or, when negative, by that signal."""

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


@dataclass(frozen=True, slots=True)
class Restart:
    """Start it again after *delay_s*; it has now died *deaths* times in a row."""

    delay_s: float
    deaths: int


def after(name: str, ended: Ended, *, deaths: int, ready_s: float, roll: float) -> Restart:
    """What follows when the child *name*, ready for *ready_s* seconds, *ended* by itself.

    *deaths* is how many times in a row it had died before. Raises the `OperatorError` that ends
    `up`, with the child's own exit code where only a person can help.
    """
    code = ended.exit_code
    if code in PERMANENT:
        remedy = f"see the message of {name} above"
        if code is ExitCode.ADDRESS_IN_USE:
            remedy += "; `--console 127.0.0.1:0` takes a port that is free"
        raise OperatorError(f"{name} cannot run: {code.meaning}", remedy=remedy, code=code)
    deaths = 1 if ready_s >= SETTLED_S else deaths + 1
    if deaths >= MOST_DEATHS:
        raise OperatorError(
            f"{name} died {deaths} times in a row, the last time with {ended}",
            remedy=f"see the messages of {name} above; `--children-log-level debug` shows more",
            code=ExitCode.CHILD_DIED,
        )
    return Restart(BACKOFF.delay_s(deaths, roll=roll), deaths)
