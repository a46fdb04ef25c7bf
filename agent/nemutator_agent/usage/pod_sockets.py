"""The TCP sockets of a pod, asked of the kernel in the pod's own network namespace.

A namespace is a property of a thread. Each reading has a thread of its own, which ends with it, so that
no other thread is ever in a pod. Entering needs CAP_SYS_ADMIN.
"""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from nemutator_agent.usage.flow_reading import SocketsNotReadError
from nemutator_agent.usage.sock_diag import (
    DUMP,
    ESTABLISHED,
    INFO,
    LISTEN,
    DumpEnd,
    TcpSocket,
    parse_dump,
)

MOST_SOCKETS = 20_000
DEADLINE_S = 2.0
_DATAGRAM = 1 << 16
_SOCK_DIAG = 4
"""NETLINK_SOCK_DIAG."""
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class PodSocketTables:
    def __init__(
        self, started_ticks: Callable[[int], int | None], *, most: int = MOST_SOCKETS
    ) -> None:
        self._started_ticks = started_ticks
        self._most = most

    async def read(self, pid: int, started_ticks: int) -> list[TcpSocket]:
        """The sockets in the namespace of that process, read in a thread of its own."""
        future: Future[list[TcpSocket]] = Future()

        def run() -> None:
            try:
                found = self._read(pid, started_ticks)
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)
            else:
                if future.set_running_or_notify_cancel():
                    future.set_result(found)

        threading.Thread(target=run, name="read sockets of a pod", daemon=True).start()
        return await asyncio.wrap_future(future)

    def _read(self, pid: int, started_ticks: int) -> list[TcpSocket]:
        try:
            namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError as error:
            raise SocketsNotReadError("denied") from error
        except OSError as error:
            raise SocketsNotReadError("ended") from error
        try:
            # The number may have a new owner; what is open now stays what it is.
            if self._started_ticks(pid) != started_ticks:
                raise SocketsNotReadError("ended")
            _enter(namespace)
        finally:
            os.close(namespace)
        found: list[TcpSocket] = []
        deadline = time.monotonic() + DEADLINE_S
        for family in _FAMILIES:
            _dump(family, found, deadline, self._most)
        return found


def _enter(namespace: int) -> None:
    # 11 MiB of memory, which only those pay who have asked for flows.
    from pyroute2 import netns  # type: ignore[import-untyped]

    try:
        netns.setns(namespace)
    except OSError as error:
        raise SocketsNotReadError("denied") from error


def _dump(family: int, found: list[TcpSocket], deadline: float, most: int) -> None:
    """Add to *found*; closing the socket ends the kernel's part, too."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as link:
        link.bind((0, 0))
        link.settimeout(DEADLINE_S)
        link.send(_request(family))
        # A kernel without IPv6 has none of its sockets.
        collect(
            lambda: link.recv(_DATAGRAM),
            found,
            deadline=deadline,
            most=most,
            may_fail=family != socket.AF_INET,
        )


def collect(
    receive: Callable[[], bytes],
    found: list[TcpSocket],
    *,
    deadline: float,
    most: int,
    may_fail: bool = False,
) -> None:
    """Add the sockets of one dump to *found*, a datagram at a time: when there are more than *most*, or it takes
    longer than until *deadline*, the rest is not read."""
    while True:
        try:
            rows = parse_dump(receive())
        except OSError as error:
            raise SocketsNotReadError("failed") from error
        for row in rows:
            if isinstance(row, DumpEnd):
                if row.error and not may_fail:
                    raise SocketsNotReadError("failed")
                return
            found.append(row)
        if len(found) > most:
            raise SocketsNotReadError("many")
        if time.monotonic() > deadline:
            raise SocketsNotReadError("slow")


def _request(family: int) -> bytes:
    from pyroute2.netlink import (  # type: ignore[import-untyped]
        NLM_F_MATCH,
        NLM_F_REQUEST,
        NLM_F_ROOT,
    )
    from pyroute2.netlink.diag import inet_diag_req  # type: ignore[import-untyped]

    request = inet_diag_req()
    request["sdiag_family"] = family
    request["sdiag_protocol"] = socket.IPPROTO_TCP
    request["idiag_ext"] = 1 << (INFO - 1)
    request["idiag_states"] = (1 << ESTABLISHED) | (1 << LISTEN)
    request["header"]["type"] = DUMP
    request["header"]["flags"] = NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
    request["header"]["sequence_number"] = 1
    request.encode()
    return bytes(request.data)
