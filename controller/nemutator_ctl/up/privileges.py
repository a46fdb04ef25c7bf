"""Whether `observe` may run as root: asks the person who may decide that, and then sudo."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nemutator_ctl.settings import Privileges

QUESTION_S = 60.0
"""Time for an answer; without one, the start goes on as an ordinary user."""

QUESTION = (
    "Root is needed for flame graphs, and to see all of other users' processes.\n"
    "May the one process that observes this machine run as root, with sudo?\n"
    f"Without an answer within {QUESTION_S:.0f} s it runs as you. [y/N] "
)

PASSWORD_S = 120.0
"""Time to type a password: sudo as Debian builds it would wait for ever."""

SUDO_S = 60.0
"""For sudo when it may not ask: it looks up users and rules, some of them remote, and a very slow
machine then starts an interpreter."""


class Terminal(Protocol):
    """The terminal on which we were started, and its sudo; `sudo.py` is the real one."""

    def is_interactive(self) -> bool:
        """Whether a person may be there to answer."""
        ...

    def sudo(self) -> str | None:
        """Where sudo is, if it is there."""
        ...

    async def ask(self, question: str, *, deadline_s: float) -> str | None:
        """The line that was typed; None when none came in time."""
        ...

    async def runs(self, argv: Sequence[str], *, deadline_s: float) -> bool:
        """Whether *argv* ends well, in the foreground, where it can ask for a password."""
        ...


@dataclass(frozen=True, slots=True)
class ObservePrivilege:
    sudo: str | None
    """The sudo that makes it root; None when it stays as it is."""
    note: str
    """What people should know about it; may be empty."""


class RootDecision(enum.Enum):
    """What to do about an ordinary user's `observe`; the value says why it is not root."""

    NEEDLESS = ""
    """This is root already."""
    ASK = "it was not wanted"
    """Ask the person first, then sudo may ask for a password."""
    WANTED = "sudo refused"
    """Go straight to sudo."""
    FORBIDDEN = "privileges=never"
    NO_TERMINAL = "there is no terminal to ask on (--privileges always does not ask)"
    NO_SUDO = "there is no sudo here"
    UNANSWERED = "nobody answered (--privileges always does not ask)"


def decide(wanted: Privileges, *, root: bool, terminal: bool, sudo: bool) -> RootDecision:
    if root:
        return RootDecision.NEEDLESS
    if wanted is Privileges.NEVER:
        return RootDecision.FORBIDDEN
    if not sudo:
        return RootDecision.NO_SUDO
    if wanted is Privileges.ALWAYS:
        return RootDecision.WANTED
    return RootDecision.ASK if terminal else RootDecision.NO_TERMINAL


def agrees(answer: str) -> bool:
    """Whether what was typed is a yes. An empty line is not: root is never a default."""
    return answer.strip().lower() in ("y", "yes")


async def settle(
    wanted: Privileges,
    *,
    root: bool,  # whether this process is root already
    supervised: bool,  # then no person is at the terminal, even when there is one
    program: Sequence[str],
    terminal: Terminal,
) -> ObservePrivilege:
    """Decide, asking at most once; *program* is what sudo has to allow."""
    sudo = terminal.sudo()
    interactive = terminal.is_interactive() and not supervised
    decision = decide(wanted, root=root, terminal=interactive, sudo=sudo is not None)
    if decision is RootDecision.ASK:
        answer = await terminal.ask(QUESTION, deadline_s=QUESTION_S)
        if answer is None:
            decision = RootDecision.UNANSWERED
        elif agrees(answer):
            decision = RootDecision.WANTED
    candidate = sudo if decision is RootDecision.WANTED else None
    if candidate and await _grants(candidate, program, terminal, interactive=interactive):
        return ObservePrivilege(candidate, "as root")
    why = f"as an ordinary user: {decision.value}" if decision.value else ""
    return ObservePrivilege(None, why)


async def _grants(
    sudo: str, program: Sequence[str], terminal: Terminal, *, interactive: bool
) -> bool:
    """Whether sudo lets this user run *program*.

    It is asked once more without a terminal: that is how the program will be started, and where
    sudo is set to forget passwords at once it would be refused. Where nobody could type one, it is
    asked in that way only, so that it never waits.
    """
    trial = ("--", *program, "--version")
    if interactive and not await terminal.runs((sudo, *trial), deadline_s=PASSWORD_S):
        return False
    return await terminal.runs((sudo, "-n", *trial), deadline_s=SUDO_S)
