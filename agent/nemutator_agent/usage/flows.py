"""With whom a pod exchanged most between two readings of its sockets."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common.wire_activity import Direction, Flow

from nemutator_agent.usage.sock_diag import TcpSocket, shown

MOST_PEERS = 16


@dataclass(frozen=True, slots=True)
class SocketTable:
    """The sockets of one namespace at one moment."""

    at: float
    """The time by the wall clock."""
    connections: Mapping[bytes, TcpSocket]
    """By cookie."""
    listening: frozenset[int]
    """Ports."""


def table(at: float, sockets: Iterable[TcpSocket]) -> SocketTable:
    connections, listening = {}, set()
    for one in sockets:
        if one.listens:
            listening.add(one.local_port)
        elif one.port:
            connections[one.cookie] = one
    return SocketTable(at, connections, frozenset(listening))


@dataclass(slots=True)
class _Sum:
    received: int = 0
    sent: int = 0
    connections: int = 0


def flows_between(before: SocketTable, after: SocketTable, pod_uid: str) -> tuple[Flow, ...]:
    """The peers with most bytes, at most `MOST_PEERS`.

    A connection that began in between counts whole; of one that ended, what it moved is not known.
    """
    listening = before.listening | after.listening
    sums: dict[tuple[bytes, int, Direction], _Sum] = {}
    for cookie, one in after.connections.items():
        known = before.connections.get(cookie)
        received = one.received - (known.received if known else 0)
        sent = one.sent - (known.sent if known else 0)
        if _is_loopback(one.address):
            continue
        if one.local_port in listening:
            key: tuple[bytes, int, Direction] = one.address, one.local_port, "in"
        else:
            key = one.address, one.port, "out"
        total = sums.setdefault(key, _Sum())
        total.received += max(received, 0)
        total.sent += max(sent, 0)
        total.connections += 1
    top = heapq.nsmallest(
        MOST_PEERS,
        sums.items(),
        key=lambda item: (-(item[1].received + item[1].sent), item[0]),
    )
    return tuple(
        Flow(
            pod_uid=pod_uid,
            address=shown(address),
            port=port,
            protocol="tcp",
            direction=direction,
            received=total.received,
            sent=total.sent,
            connections=total.connections,
            from_at=min(before.at, after.at),
            to_at=after.at,
        )
        for (address, port, direction), total in top
    )


def _is_loopback(address: bytes) -> bool:
    return address[:1] == b"\x7f" if len(address) == 4 else address == b"\0" * 15 + b"\1"
