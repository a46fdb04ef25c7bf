"""Connections to the brain, which are kept between two calls: a TLS handshake costs the brain as much
as two reports."""

import socket
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp

from nemutator_common.shipping.destinations import Destination, LocalBrain

CONNECTIONS = 4
"""Enough for a long poll and for each stream of a process."""

KEPT_S = 100.0
"""How long a connection is kept without a call: longer than the longest pace of reports, 60 s."""

SERVED_S = 150.0
"""How long the brain keeps it. It is longer, so that almost no call is made on a connection that the
brain is just closing."""

_SILENT_S = 20
_PROBE_S = 5
_PROBES = 3
"""A peer that vanished without a word is found after 35 s of silence, which is before the next report at
the slowest pace; and what lies between us sees something go by, and forgets the connection less soon."""

_UNACKNOWLEDGED_S = 20
"""How long bytes may go unacknowledged by the other machine's kernel."""


@dataclass(slots=True, eq=False)
class CallAttempt:
    """What is known of one try to make a call."""

    reused: bool = False
    """Whether its connection had carried another call: it may have been closed since."""


def kept_connector(where: Destination) -> aiohttp.BaseConnector:
    """Makes connections to the brain, and keeps them."""
    if isinstance(where, LocalBrain):
        return aiohttp.UnixConnector(str(where.socket), limit=CONNECTIONS, keepalive_timeout=KEPT_S)
    return aiohttp.TCPConnector(
        limit=CONNECTIONS, keepalive_timeout=KEPT_S, socket_factory=watched_socket
    )


def watched_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket for *address* of which the kernel notices that nobody is at the other end any more."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SILENT_S)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_S)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_S * 1000)
    return made


def attempts_told() -> aiohttp.TraceConfig:
    """Has each request tell the `CallAttempt` that is its `trace_request_ctx`."""
    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_reused)
    tracing.on_connection_create_end.append(_created)
    return tracing


def is_broken(error: Exception) -> bool:
    """Whether *error* says that a connection ended under a call, before anything was answered."""
    return isinstance(
        error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError
    ) and not isinstance(error, aiohttp.ClientConnectorError)


async def _reused(
    _: aiohttp.ClientSession, tracing: SimpleNamespace, __: aiohttp.TraceConnectionReuseconnParams
) -> None:
    _attempt(tracing).reused = True


async def _created(
    _: aiohttp.ClientSession, tracing: SimpleNamespace, __: aiohttp.TraceConnectionCreateEndParams
) -> None:
    _attempt(tracing).reused = False


def _attempt(tracing: SimpleNamespace) -> CallAttempt:
    attempt = tracing.trace_request_ctx
    assert isinstance(attempt, CallAttempt)
    return attempt
