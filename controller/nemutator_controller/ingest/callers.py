"""Who may post what, and for whom."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who proved who they are: this machine's own, a node's agent, or admission."""

    node: str | None
    """The one node that it may speak for; None: any, as it can read this machine's link token."""
    admission: str | None = None
    """Name of its pod when it is a replica of admission, which speaks for no node at all."""

    def may_speak_for(self, node: str) -> bool:
        return self.admission is None and self.node in (None, node)

    def may_write(self, stream: str, writer: str) -> bool:
        """Whether records of *stream* may come from it under the name *writer*."""
        if self.admission is not None:
            return stream == "decisions" and writer == self.admission
        return self.node is None or (stream == "grants" and writer == self.node)

    @property
    def may_read_snapshots(self) -> bool:
        """What admission needs in its memory: advice and tombstones, of all namespaces."""
        return self.admission is not None or self.node is None


LOCAL = Caller(node=None)


class CallersUnknownError(Exception):
    """Who asks cannot be found out now: neither granted nor refused for good."""


class Callers(Protocol):
    async def recognise(self, authorization: str | None) -> Caller | None:
        """Who sent this `Authorization` header; None when it proves nothing.

        Raises CallersUnknownError when nobody can tell.
        """
        ...
