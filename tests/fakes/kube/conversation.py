"""A raw HTTP conversation with an API server, for tests: no client of ours in between."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, Self

import aiohttp

Json = dict[str, Any]

PATIENCE_S = 60.0


class Server(Protocol):
    """Where somebody who may do everything gets in."""

    @property
    def url(self) -> str: ...

    @property
    def ca_file(self) -> Path: ...

    @property
    def token(self) -> str: ...


class Stream:
    """The events of a watch, one after the other."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.ended = False

    async def line(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self._response.content.readline()

    async def event(self) -> Json:
        line = await self.line()
        assert line, "the watch has ended"
        event: Json = json.loads(line)
        return event

    async def brief(self) -> tuple[str, str]:
        """Type and object's name."""
        event = await self.event()
        return event["type"], event["object"]["metadata"].get("name", "")


class Conversation:
    def __init__(self, server: Server, token: str | None = None) -> None:
        self._server = server
        self._token = server.token if token is None else token

    async def __aenter__(self) -> Self:
        context = ssl.create_default_context(cafile=str(self._server.ca_file))
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        self._session = aiohttp.ClientSession(
            self._server.url,
            headers=headers,
            connector=aiohttp.TCPConnector(ssl=context),
            timeout=aiohttp.ClientTimeout(PATIENCE_S),
            read_bufsize=1 << 23,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: str,
    ) -> tuple[int, Json]:
        async with self._session.request(
            method,
            path,
            params={name.rstrip("_"): value for name, value in query.items()},
            data=None if body is None else json.dumps(body),
            headers={"Content-Type": "application/json", **(headers or {})},
        ) as response:
            return response.status, await response.json()

    async def code(self, method: str, path: str) -> int:
        """What it gets, for an answer that need not be JSON."""
        async with self._session.request(method, path) as response:
            return response.status

    async def warnings(self, method: str, path: str, body: object) -> list[str]:
        """The Warning headers of an answer."""
        async with self._session.request(method, path, json=body) as response:
            return response.headers.getall("Warning", [])

    async def get(self, path: str, **query: str) -> Json:
        status, body = await self.ask("GET", path, headers=None, **query)
        assert status == 200, body
        return body

    async def create(self, path: str, body: Json, **query: str) -> Json:
        status, answer = await self.ask("POST", path, body, headers=None, **query)
        assert status == 201, answer
        return answer

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[Stream]:
        async with self._session.get(path, params={"watch": "true", **query}) as response:
            assert response.status == 200, await response.text()
            yield Stream(response)


def pod(name: str, *, node: str = "", **labels: str) -> Json:
    return {
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "spec": {"containers": [{"name": "app"}], **({"nodeName": node} if node else {})},
    }
