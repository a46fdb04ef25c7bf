"""Processes that call the brain: what each one is, and in whose name it may speak."""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

CallerKind = Literal["agent", "admission", "local"]
"""A local process is one of this machine that can read the link token."""

LONGEST_NAME = 253
"""In characters: a node is named as a DNS subdomain is."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def is_name(text: str) -> bool:
    """Whether *text* can name a node, or a pod."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Caller:
    """A process that proved who it is."""

    kind: CallerKind
    name: str = ""
    """The node of an agent, or the pod of a replica of admission."""

    def may_speak_as(self, kind: CallerKind, name: str) -> bool:
        """Whether it may speak in the name of this agent or replica; a local process may in any."""
        return self.kind == "local" or (self.kind, self.name) == (kind, name)

    def may_speak_for(self, node: str) -> bool:
        return self.may_speak_as("agent", node)


LOCAL = Caller("local")


class Callers(Protocol):
    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        """Which process sent this `Authorization` header from the address *source*; None when it proves
        nothing.

        Raises UnknownNowError when that cannot be found out now.
        """
        ...
