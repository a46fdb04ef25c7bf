"""The kernel's queue of callers whom a listening socket has not accepted yet."""

import asyncio
import socket


class AcceptQueue:
    """The event loop is asked once for many callers. It reports a caller who is not accepted again and
    again, so `leave` before a pause."""

    def __init__(self, listening: socket.socket) -> None:
        self._fd = listening.fileno()
        self._loop = asyncio.get_running_loop()
        self._readable = asyncio.Event()
        self._watched = False

    async def filled(self) -> None:
        """Wait until somebody is in it. Between two callers the loop has had a turn."""
        if not self._watched:
            self._loop.add_reader(self._fd, self._readable.set)
            self._watched = True
        await self._readable.wait()
        self._readable.clear()

    def leave(self) -> None:
        if self._watched:
            self._loop.remove_reader(self._fd)
            self._watched = False
        self._readable.clear()
