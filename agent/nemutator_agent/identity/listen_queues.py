"""When the queue of each listening socket was last seen empty: what is accepted later was made later.

Before Linux 6.5 this is all that can be known of the time of a connection (`peers.py`).
"""

import select
import socket
import time
from collections.abc import Callable
from math import inf


def since_boot() -> float:
    """Seconds since the machine's start; the start times of processes are counted by the same clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ListenQueues:
    def __init__(self, now: Callable[[], float] = since_boot) -> None:
        self._now = now
        self._polled = select.poll()
        self._sockets: dict[int, socket.socket] = {}
        self._empty: dict[socket.socket, float] = {}

    def add(self, listening: socket.socket) -> None:
        """Poll this socket from now on, until it is removed."""
        fd = listening.fileno()
        # One that was closed and not removed yet had the same number.
        self._empty.pop(self._sockets.pop(fd, listening), None)
        self._polled.register(fd, select.POLLIN)
        self._sockets[fd] = listening
        self._empty[listening] = -inf
        self.poll()

    def remove(self, listening: socket.socket) -> None:
        """It may have been closed before."""
        self._empty.pop(listening, None)
        for fd, other in tuple(self._sockets.items()):
            if other is listening:
                del self._sockets[fd]
                self._polled.unregister(fd)

    def poll(self) -> None:
        # The time before the poll, which is the earlier one: to be late is to believe too much.
        now = self._now()
        filled = {fd for fd, _ in self._polled.poll(0)}
        for fd, listening in self._sockets.items():
            if fd not in filled:
                self._empty[listening] = now

    def empty_at(self, listening: socket.socket) -> float:
        """A moment at which the queue was empty; what is accepted now was made after it."""
        return self._empty.get(listening, -inf)
