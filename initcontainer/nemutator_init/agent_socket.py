"""The agent, over the pod's own socket."""

import http.client
import socket
from pathlib import Path

from nemutator_init.answers import LARGEST, AgentAnswer, NotYetError

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

    def ask(self, path: str) -> AgentAnswer:
        """Raises NotYetError without an answer, because the agent may be about to start."""
        connection = _UnixConnection(self._path, self._call_s)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read(LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise NotYetError(
                f"no answer from the agent on this node: {why} ({self._path}); "
                f"remedy: {self._remedy}"
            ) from None
        finally:
            connection.close()
        if len(body) > LARGEST:
            return AgentAnswer(413, b"")
        return AgentAnswer(answer.status, body)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, call_s: float) -> None:
        super().__init__("agent", timeout=call_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
