"""When a child is started again: how it ended, or for how long it has been silent."""

import signal
from dataclasses import dataclass
from typing import Self

from nemutator_common.backoff import Backoff
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError

SETTLED_S = 1.0
"""A child that was ready for this long had started well: its end is the first of a new series."""

MOST_DEATHS = 5
"""Deaths in a row, without a settled life between them, after which a restart is no help."""

BACKOFF = Backoff(first_s=0.3, longest_s=5.0)

WAITS = frozenset({ExitCode.UNREACHABLE, ExitCode.NO_SPACE})
"""Codes of a child that cannot go on before a database answers, or a disk has room: others do not need either."""

HUNG_S = 60.0
"""Without an answer that takes a millisecond, by a child that had a processor or needed none."""

STOPPED_S = 15.0
"""A debugger holds a process for a moment, and a person who stops one may want it back."""

MISSED_S = 20.0
"""No single missed answer counts for more: clocks jump while a virtual machine is paused."""


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
class Scheduling:
    """What the kernel says of a process."""

    state: str
    """A letter, as proc_pid_stat(5) explains them."""
    waited_s: float
    """For how long its threads have waited for a processor, in all of its life."""


@dataclass(frozen=True, slots=True)
class Silence:
    """For how long a child has not answered.

    A machine that is slow is no defect of the child: neither waiting for a processor counts, nor
    waiting for a disk, during which nothing could end it anyway.
    """

    able_s: float = 0.0
    """While it could have answered."""
    stopped_s: float = 0.0
    """While it was stopped, as by SIGSTOP."""

    def longer(self, passed_s: float, before: Scheduling, now: Scheduling) -> Self:
        """One more answer was missed, *passed_s* after the last look."""
        counted_s = min(passed_s, MISSED_S)
        if now.state in "Tt":
            return type(self)(self.able_s, self.stopped_s + counted_s)
        if now.state == "D":
            return type(self)(self.able_s)
        # The sum is less than before when a thread has ended.
        waited_s = max(0.0, now.waited_s - before.waited_s)
        return type(self)(self.able_s + max(0.0, counted_s - waited_s))

    def hung(self, *, started: bool) -> str | None:
        """Why the child must be ended; None while there is hope. A start may take for ever."""
        if self.stopped_s >= STOPPED_S:
            return "it was stopped, as by SIGSTOP, and was not continued"
        if started and self.able_s >= HUNG_S:
            return f"it has not answered for {self.able_s:.0f} s in which it could have"
        return None


@dataclass(frozen=True, slots=True)
class Restart:
    """Start it again after *delay_s*; it has now died *deaths* times in a row."""

    delay_s: float
    deaths: int


def after(
    name: str, ended: Ended, *, deaths: int, ready_s: float, has_worked: bool, roll: float
) -> Restart:
    """What follows when the child *name*, ready for *ready_s* seconds, *ended* by itself.

    *deaths* is how many times in a row it had died before; *has_worked*: it was ready at least once. Raises the `OperatorError` that ends
    `up`, with the child's own exit code where only a person can help.
    """
    code = ended.exit_code
    if code in PERMANENT:
        remedy = f"see the message of {name} above"
        if code is ExitCode.ADDRESS_IN_USE:
            remedy += "; `--console 127.0.0.1:0` takes a port that is free"
        raise OperatorError(f"{name} cannot run: {code.meaning}", remedy=remedy, code=code)
    if has_worked and code in WAITS:
        # However long that takes. Who starts it for the first time is told instead, as an address may be wrong.
        return Restart(BACKOFF.delay_s(MOST_DEATHS, roll=roll), deaths)
    deaths = 1 if ready_s >= SETTLED_S else deaths + 1
    if deaths >= MOST_DEATHS:
        raise OperatorError(
            f"{name} died {deaths} times in a row, the last time with {ended}",
            remedy=f"see the messages of {name} above; `--children-log-level debug` shows more",
            code=ExitCode.CHILD_DIED,
        )
    return Restart(BACKOFF.delay_s(deaths, roll=roll), deaths)
