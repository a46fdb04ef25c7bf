"""What stands between a client and a server on loopback, and may lose their connections."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
_PIECE = 64 << 10


class Relay:
    """Passes bytes on, both ways."""

    def __init__(self, port: int) -> None:
        self.opened = 0
        """Connections of clients, until now."""
        self.url = ""
        self.late_s = 0.0
        """For so long each piece of the client's that begins with one of *late* is kept back."""
        self.late = b""
        self._port = port
        self._lost: set[asyncio.StreamWriter] = set()
        self._clients: set[asyncio.StreamWriter] = set()
        self._over = asyncio.Event()
        self._serving: set[asyncio.Task[None]] = set()

    def lose_all(self) -> None:
        """Forget the connections there are, as a balancer does, and tell nobody before they are used."""
        self._lost |= self._clients

    def cut_all(self) -> None:
        """End the connections there are, at once."""
        for client in self._clients:
            client.transport.abort()

    async def end(self) -> None:
        """Keep nothing back any more, and wait until all connections are done with."""
        self._over.set()
        self.cut_all()
        while self._serving:
            await asyncio.wait(self._serving)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        self.opened += 1
        self._clients.add(writer)
        to_reader, to_writer = await asyncio.open_connection(LOOPBACK, self._port)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pass(reader, to_writer, writer, self._kept_back))
                tasks.create_task(self._pass(to_reader, writer, writer, _at_once))
        finally:
            self._clients.discard(writer)
            writer.close()
            to_writer.close()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        client: asyncio.StreamWriter,
        kept_back: Callable[[bytes], Awaitable[None]],
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(_PIECE):
                if client in self._lost:
                    client.transport.abort()
                    break
                await kept_back(piece)
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def _kept_back(self, piece: bytes) -> None:
        if piece[:1] in self.late:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.late_s):
                    await self._over.wait()


async def _at_once(piece: bytes) -> None:
    pass


@contextlib.asynccontextmanager
async def relay_to(url: str) -> AsyncIterator[Relay]:
    relay = Relay(urlsplit(url).port or 0)
    server = await asyncio.start_server(relay.serve, LOOPBACK, 0)
    relay.url = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
    async with server:
        try:
            yield relay
        finally:
            await relay.end()
