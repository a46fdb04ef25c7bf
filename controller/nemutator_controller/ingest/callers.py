"""Who may post what, and for whom."""

from dataclasses import dataclass
from typing import Protocol

from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    REPORTS_PATH,
    STREAMS_PATH,
)

UPLINK_PATH = "/uplink/v1/"

_OF_AGENTS = (REPORTS_PATH, PROFILE_REQUESTS_PATH, PROFILES_PATH)


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

    def may_call(self, path: str) -> bool:
        """Whether *path* is any business of it; whom it speaks for there is asked besides.

        What is neither a stream nor an agent's is a snapshot of all namespaces, for admission.
        """
        if self.admission is None and self.node is None:
            return True
        if path.startswith(STREAMS_PATH):
            return True
        if self.admission is not None:
            return path.startswith(UPLINK_PATH) and path not in _OF_AGENTS
        return path in _OF_AGENTS


LOCAL = Caller(node=None)


class CallersUnknownError(Exception):
    """Who asks cannot be found out now: neither granted nor refused for good."""


class Callers(Protocol):
    async def recognise(self, authorization: str | None) -> Caller | None:
        """Who sent this `Authorization` header; None when it proves nothing.

        Raises CallersUnknownError when nobody can tell.
        """
        ...
