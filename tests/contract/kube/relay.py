"""A way to the server that can be cut, held and closed: what networks do to connections.

It passes bytes on and understands none of them, so TLS and certificates are the server's own.
"""

import asyncio
import contextlib
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

CHUNK = 64 * 1024


class Relay:
    def __init__(self, url: str) -> None:
        self._host, self._port = urlsplit(url).hostname, urlsplit(url).port
        self._streams: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """On the same port each time."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Nobody gets through any more, and who was through is thrown out."""
        if self._server is not None:
            self._server.close()
            self.cut()
            await self._server.wait_closed()
            self._server = None

    def cut(self) -> None:
        """Break each connection now, in both directions, without a goodbye."""
        for stream in self._streams:
            stream.transport.abort()

    def hold(self) -> None:
        """Half-open: connections stay, and nothing comes through them."""
        self._flowing.clear()

    def flow(self) -> None:
        """Let through again what new connections bring."""
        self._flowing.set()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._streams |= ends
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._one_way(reader, far_writer))
                group.create_task(self._one_way(far_reader, writer))
        finally:
            self._streams -= ends
            for end in ends:
                end.transport.abort()
                with contextlib.suppress(OSError):
                    await end.wait_closed()

    async def _one_way(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await source.read(CHUNK):
                await self._flowing.wait()
                sink.write(chunk)
                await sink.drain()
        sink.close()
