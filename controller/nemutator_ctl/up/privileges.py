"""Whether `observe` is raised to root: the one process that sees more that way."""

import enum

from nemutator_ctl.settings import Privileges


class Raising(enum.Enum):
    """What to do about an ordinary user's `observe`; the value says why it is not raised."""

    NEEDLESS = ""
    """This is root already."""
    ASK = "it was not wanted"
    """Ask the person first, then sudo may ask for a password."""
    WANTED = "sudo refused"
    """Go straight to sudo."""
    FORBIDDEN = "privileges=never"
    NO_TERMINAL = "there is no terminal to ask on (--privileges always does not ask)"
    NO_SUDO = "there is no sudo here"


def decide(wanted: Privileges, *, root: bool, terminal: bool, sudo: bool) -> Raising:
    if root:
        return Raising.NEEDLESS
    if wanted is Privileges.NEVER:
        return Raising.FORBIDDEN
    if not sudo:
        return Raising.NO_SUDO
    if wanted is Privileges.ALWAYS:
        return Raising.WANTED
    return Raising.ASK if terminal else Raising.NO_TERMINAL


def agrees(answer: str) -> bool:
    """Whether what was typed is a yes. An empty line is not: root is never a default."""
    return answer.strip().lower() in ("y", "yes")
