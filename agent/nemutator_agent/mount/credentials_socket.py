"""The credentials process, over its private unix socket."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

from nemutator_common.publications import INSTANCE_PATH, PUBLICATIONS_PATH, Publication

from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError
from nemutator_agent.mount.http_messages import (
    LARGEST_ANSWER,
    Answer,
    NoAnswerError,
    parse_answer,
    request,
)

CALL_S = 10.0
"""A pod's start waits for it; kubelet itself gives up after two minutes."""


class CredentialsSocket:
    def __init__(self, path: Path, *, call_s: float = CALL_S) -> None:
        self._path = path
        self._call_s = call_s

    async def instance(self) -> str:
        answer = await self._ask("GET", INSTANCE_PATH)
        try:
            instance = json.loads(answer.body)["id"]
        except (ValueError, TypeError, KeyError) as error:
            raise self._failure("it does not say which one it is") from error
        if answer.status != 200 or not isinstance(instance, str):
            raise self._failure(f"HTTP status {answer.status}")
        return instance

    async def publish(self, volume_id: str, publication: Publication) -> None:
        body = json.dumps(asdict(publication)).encode()
        await self._order("PUT", f"{PUBLICATIONS_PATH}/{volume_id}", body)

    async def unpublish(self, volume_id: str) -> None:
        await self._order("DELETE", f"{PUBLICATIONS_PATH}/{volume_id}", b"")

    async def _order(self, method: str, path: str, body: bytes) -> None:
        answer = await self._ask(method, path, body)
        if answer.status != 204:
            why = f"HTTP status {answer.status}{_why(answer.body)}"
            raise CredentialsRefusedError(str(self._failure(why)))

    async def _ask(self, method: str, path: str, body: bytes = b"") -> Answer:
        try:
            async with asyncio.timeout(self._call_s):
                reader, writer = await asyncio.open_unix_connection(
                    self._path, limit=LARGEST_ANSWER
                )
                try:
                    writer.write(request(method, path, body))
                    await writer.drain()
                    received = bytearray()
                    while len(received) <= LARGEST_ANSWER and (more := await reader.read(65536)):
                        received += more
                finally:
                    writer.close()
            return parse_answer(bytes(received))
        except TimeoutError:
            raise self._failure(f"no answer within {self._call_s:g} s") from None
        except NoAnswerError as error:
            raise self._failure(str(error)) from None
        except OSError as error:
            raise self._failure(error.strerror or type(error).__name__) from None

    def _failure(self, why: str) -> CredentialsUnavailableError:
        return CredentialsUnavailableError(
            f"the credentials process on this node does not help: {why} ({self._path}); remedy: "
            "look at the log of the agent's container `credentials`"
        )


def _why(body: bytes) -> str:
    try:
        said = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        return ""
    return f": {said[:200]}" if isinstance(said, str) else ""
