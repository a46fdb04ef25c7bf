"""The credentials process, over its private unix socket."""

import asyncio
import json
import os
import socket
import struct
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.http_messages import (
    LARGEST_ANSWER,
    CredentialsResponse,
    NoAnswerError,
    parse_answer,
    request,
)
from nemutator_agent.mount.pods_root import pods_root_for
from nemutator_agent.publications import INSTANCE_PATH, PUBLICATIONS_PATH, Publication

_CREDENTIALS = struct.Struct("iII")

CALL_S = 10.0
"""A pod's start waits for it; kubelet itself gives up after two minutes."""


@dataclass(eq=False, slots=True)
class CredentialsSocket:
    path: Path
    call_s: float = CALL_S
    _pods_root: str = field(default="", init=False)

    async def instance(self) -> str:
        answer = await self._ask("GET", INSTANCE_PATH)
        try:
            instance = json.loads(answer.body)["id"]
        except (ValueError, TypeError, KeyError) as error:
            raise self._failure("its answer holds no id") from error
        if answer.status != 200 or not isinstance(instance, str):
            raise self._failure(f"HTTP status {answer.status}")
        return instance

    async def publish(self, volume_id: str, publication: Publication) -> None:
        if not self._pods_root:
            # The peer of a connection shows it, and each request makes a connection.
            await self.instance()
        body = json.dumps(asdict(publication) | {"pods_root": self._pods_root}).encode()
        await self._order("PUT", f"{PUBLICATIONS_PATH}/{volume_id}", body)

    async def unpublish(self, volume_id: str) -> None:
        await self._order("DELETE", f"{PUBLICATIONS_PATH}/{volume_id}", b"")

    async def _order(self, method: str, path: str, body: bytes) -> None:
        answer = await self._ask(method, path, body)
        if answer.status != 204:
            why = f"HTTP status {answer.status}{_why(answer.body)}"
            raise CredentialsRefusedError(str(self._failure(why)))

    async def _ask(self, method: str, path: str, body: bytes = b"") -> CredentialsResponse:
        try:
            async with asyncio.timeout(self.call_s):
                reader, writer = await asyncio.open_unix_connection(self.path, limit=LARGEST_ANSWER)
                try:
                    self._pods_root = _seen_from_here(writer)
                    writer.write(request(method, path, body))
                    await writer.drain()
                    received = bytearray()
                    while len(received) <= LARGEST_ANSWER and (more := await reader.read(65536)):
                        received += more
                finally:
                    writer.close()
            return parse_answer(bytes(received))
        except TimeoutError:
            raise self._failure(f"no answer within {self.call_s:g} s") from None
        except NoAnswerError as error:
            raise self._failure(str(error)) from None
        except OSError as error:
            raise self._failure(error.strerror or type(error).__name__) from None

    def _failure(self, why: str) -> CredentialsUnavailableError:
        return CredentialsUnavailableError(
            f"the credentials process on this node does not help: {why} ({self.path}); remedy: "
            "look at the log of the agent's container `credentials`"
        )


def _seen_from_here(writer: asyncio.StreamWriter) -> str:
    """Kubelet's control group, as the listener at the other end needs it; empty when it is not seen."""
    connected = writer.get_extra_info("socket")
    try:
        with socket.socket(fileno=os.dup(connected.fileno())) as own:
            given = own.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, _, _ = _CREDENTIALS.unpack(given)
        return pods_root_for(_cgroup("self"), _cgroup(str(pid)))
    except OSError:
        return ""


def _cgroup(pid: str) -> str:
    return Path("/proc", pid, "cgroup").read_text(errors="surrogateescape")


def _why(body: bytes) -> str:
    try:
        error = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        return ""
    return f": {error[:200]}" if isinstance(error, str) else ""
