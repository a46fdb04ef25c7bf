"""Whether `observe` may run as root: asks whoever may decide that, and then sudo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nemutator_ctl.settings import Privileges
from nemutator_ctl.up.privileges import Raising, agrees, decide

QUESTION = (
    "As an ordinary user, nemutator sees less of other users' processes.\n"
    "May the process that observes this machine, and nothing else, run as root with sudo? [y/N] "
)

SUDO_S = 10.0
"""For sudo to answer when it may not ask: it looks up users and rules, some of them remote."""


class Person(Protocol):
    """Whoever sits at the terminal, if anybody does; `person.py` is the real one."""

    def at_terminal(self) -> bool: ...

    def sudo(self) -> str | None:
        """Where sudo is, if it is."""
        ...

    async def asked(self, question: str) -> str:
        """What they type."""
        ...

    async def runs(self, argv: Sequence[str], *, deadline_s: float | None) -> bool:
        """Whether *argv* ends well, in the foreground, where it can ask for a password."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    sudo: str | None
    """The sudo that raises it; None when it stays as it is."""
    note: str
    """What the person should know about it; empty when there is nothing to say."""


async def outcome(
    wanted: Privileges,
    *,
    root: bool,  # whether we are it already
    supervised: bool,  # then nobody is at our terminal, even when there is one
    program: Sequence[str],
    person: Person,
) -> Outcome:
    """Find out, and ask at most once; *program* is what sudo has to allow."""
    sudo = person.sudo()
    terminal = person.at_terminal() and not supervised
    raising = decide(wanted, root=root, terminal=terminal, sudo=sudo is not None)
    if raising is Raising.ASK and agrees(await person.asked(QUESTION)):
        raising = Raising.WANTED
    candidate = sudo if raising is Raising.WANTED else None
    if candidate and await _grants(candidate, program, person, terminal=terminal):
        return Outcome(candidate, "as root")
    return Outcome(None, f"as an ordinary user: {raising.value}" if raising.value else "")


async def _grants(sudo: str, program: Sequence[str], person: Person, *, terminal: bool) -> bool:
    """Whether sudo lets this user run *program*.

    It is asked once more without a terminal: that is how the program will be started, and where
    sudo is set to forget passwords at once it would be refused. Where nobody could type one, it is
    asked that way only, so that it never waits.
    """
    trial = ("--", *program, "--version")
    if terminal and not await person.runs((sudo, *trial), deadline_s=None):
        return False
    return await person.runs((sudo, "-n", *trial), deadline_s=SUDO_S)
