"""Processes that call the brain: whom each one speaks for, and what it may send."""

import re
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

LONGEST_NAME = 253
"""In characters: a node is named as a DNS subdomain is."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def is_name(text: str) -> bool:
    """Whether *text* can name a node, or a pod."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Caller:
    """A process that proved who it is: this machine's own, a node's agent, or admission."""

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
        """Whether it may call *path* at all; whom it speaks for there is checked besides.

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


class Callers(Protocol):
    async def recognise(self, authorization: str | None) -> Caller | None:
        """Who sent this `Authorization` header; None when it proves nothing.

        Raises UnknownNowError when nobody can tell.
        """
        ...
