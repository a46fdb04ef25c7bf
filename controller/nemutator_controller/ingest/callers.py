"""Who may post reports, and for which node."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who proved who they are."""

    node: str | None
    """The one node that it may speak for; None: any, as it can read this machine's link token."""

    def may_speak_for(self, node: str) -> bool:
        return self.node is None or self.node == node


class Callers(Protocol):
    def recognise(self, authorization: str | None) -> Caller | None:
        """Who sent this `Authorization` header; None when it proves nothing."""
        ...
