"""The agent, over the pod's own socket."""

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

from nemutator_init.answers import LARGEST, AgentAnswer, NotYetError, check

_LONGEST_LINE = 64 << 10

CALL_S = 30.0
"""The agent's own deadlines are shorter, so this one is for an agent that hangs."""


class AgentSocket:
    """*remedy* is what to do where no process listens on *path*."""

    def __init__(
        self,
        path: Path,
        *,
        call_s: float = CALL_S,
        remedy: str = "the agent's DaemonSet must run on this node",
    ) -> None:
        self._path = path
        self._call_s = call_s
        self._remedy = remedy

    def stream(self, path: str) -> Iterator[bytes]:
        """The lines of an answer that has no end. Raises NotYetError, also when it is cut off, and
        NeverError when it is refused."""
        connection = _UnixConnection(self._path, self._call_s)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200:
                check(AgentAnswer(answer.status, answer.read(LARGEST)), "the stream")
            while line := answer.readline(_LONGEST_LINE):
                yield line
        except (OSError, http.client.HTTPException) as error:
            raise self._no_answer(error) from None
        finally:
            connection.close()

    def ask(self, path: str) -> AgentAnswer:
        """Raises NotYetError without an answer, because the agent may be about to start."""
        connection = _UnixConnection(self._path, self._call_s)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read(LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            raise self._no_answer(error) from None
        finally:
            connection.close()
        if len(body) > LARGEST:
            return AgentAnswer(413, b"")
        return AgentAnswer(answer.status, body)

    def _no_answer(self, error: Exception) -> NotYetError:
        why = getattr(error, "strerror", None) or type(error).__name__
        return NotYetError(
            f"no answer from the agent on this node: {why} ({self._path}); remedy: {self._remedy}"
        )


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, call_s: float) -> None:
        super().__init__("agent", timeout=call_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
