"""The kernel's connector for processes: a socket that hears of each process that begins.

It needs CAP_NET_ADMIN in the machine's own namespaces; without it nobody is told, and short-lived
processes are not counted. Nothing wakes up for an event: they wait in the socket until a snapshot.
"""

import array
import contextlib
import errno
import os
import socket
import struct
import sys

from nemutator_agent.usage.cached_files import read_once
from nemutator_agent.usage.process_events import EVENT_AT, FORK, Began, parse_events

_CONNECTOR, _PROC = 11, 1
_LISTEN, _DONE = 1, 3
_BUFFER = 2 << 20
_MOST = 20_000
"""Of one snapshot; the kernel's buffer holds fewer."""
_NET_ADMIN = 1 << 12
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33


class ProcessEvents:
    """Events from its making on. `is_heard` is False where the kernel does not tell us."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        with contextlib.suppress(OSError):
            self._socket = _listening()

    @property
    def is_heard(self) -> bool:
        return self._socket is not None

    def taken(self) -> list[Began] | None:
        """Who has begun since the last time; None when some of them are not known."""
        if self._socket is None:
            return None
        found: list[Began] = []
        lost = False
        while len(found) < _MOST:
            try:
                found += parse_events(self._socket.recv(1 << 12))
            except BlockingIOError:
                return None if lost else found
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    return None
                # The buffer was full. What is in it must be taken out, or it stays so.
                lost = True
        return None

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def is_expected() -> bool:
    """Whether this process has the right that it needs."""
    for line in (read_once("/proc/self/status") or b"").splitlines():
        if line.startswith(b"CapEff:"):
            return bool(int(line.split()[1], 16) & _NET_ADMIN)
    return False


def _listening() -> socket.socket:
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, _CONNECTOR)
    try:
        link.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)
        _only_new_processes(link)
        link.bind((0, _PROC))
        message = struct.pack("=IIIIHHI", _PROC, _PROC, 0, 0, 4, 0, _LISTEN)
        header = struct.pack("=IHHII", 16 + len(message), _DONE, 0, 0, os.getpid())
        link.send(header + message)
    except OSError:
        link.close()
        raise
    return link


def _only_new_processes(link: socket.socket) -> None:
    """Have the kernel drop all other events, new threads among them, before they are queued."""

    def native(value: int) -> int:
        # The filter reads words in the network's order.
        return int.from_bytes(value.to_bytes(4, sys.byteorder), "big")

    child = EVENT_AT + 16 + 8
    program = [
        (0x20, 0, 0, EVENT_AT),  # load what happened
        (0x15, 0, 4, native(FORK)),  # another thing: drop
        (0x20, 0, 0, child),  # load the new thread
        (0x07, 0, 0, 0),  # keep it
        (0x20, 0, 0, child + 4),  # load the process that it is in
        (0x1D, 1, 0, 0),  # the same: a process
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFF),  # take
    ]
    code = array.array("B", b"".join(struct.pack("=HBBI", *one) for one in program))
    address, _ = code.buffer_info()
    link.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HL", len(program), address))
