"""Sockets of which something can be read, so many in each turn of the event loop.

The loop by itself reports all of them in one turn, and whatever else is due waits. To it these sockets are one, which stays readable
while any of them is; the kernel reports first who has waited for longest.
"""

import asyncio
import select
from collections.abc import Callable
from contextvars import Context


class ReadableSockets:
    """Calls back once for each socket that has something to read, again and again while it has."""

    __slots__ = ("_callbacks", "_epoll", "_loop", "_most")

    def __init__(self, most: int) -> None:
        """*most*: calls in a turn of the running loop."""
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._epoll = select.epoll()
        self._callbacks: dict[int, Callable[[], None]] = {}

    def add(self, fd: int, callback: Callable[[], None]) -> None:
        """It may be added once, and is to be removed before it is closed."""
        self._epoll.register(fd, select.EPOLLIN)
        if not self._callbacks:
            self._loop.add_reader(self._epoll.fileno(), self._call_some)
        self._callbacks[fd] = callback

    def remove(self, fd: int) -> None:
        self._epoll.unregister(fd)
        del self._callbacks[fd]
        if not self._callbacks:
            self._loop.remove_reader(self._epoll.fileno())

    def _call_some(self) -> None:
        for fd, _ in self._epoll.poll(0, self._most):
            callback = self._callbacks.get(fd)
            # Unless one before it has had it removed.
            if callback is not None:
                # In a context of its own, and not in that of whichever request went on as the first one was added.
                Context().run(callback)
