"""The limits that one listener sets its callers: bytes, connections and time."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Defaults for a listener whose callers are strangers with small requests.

    One connection holds at most `2 * body_bytes + head_bytes` that its caller sent and we have not
    processed (more is a flood), one read of the event loop (64 KiB by TCP, 256 by a unix socket),
    and the `body_bytes` that a handler reads. With the defaults that is 3.3 MiB; the most that was
    measured is 2.0. A listener may hold that for each of its `connections`: where the process must
    be small, lower one of the two.
    """

    head_bytes: int = 16 << 10
    """The request line and headers together. Browsers send 1-4 KiB; cookies of other services on
    the same host can make it 8."""

    headers: int = 64
    """The most headers. Each costs the parser a tuple and two strings, however short it is."""

    body_bytes: int = 1 << 20
    """One body, after decompression."""

    receive_bytes: int = 32 << 10
    """The kernel's receive buffer of a TCP connection; the kernel grants twice that. A smaller buffer is a
    smaller window: a body of 1 MiB over 10 ms needs 160 ms more, and one of 27 KB comes in pieces, each of
    which takes a turn of the event loop."""

    connections: int = 1024
    """Open connections, those in their TLS handshake included. An idle one costs about 6 KiB."""

    connections_each: int | None = None
    """How many of these one user may hold on a unix socket that several users share. Beyond it, and
    when there is no room for anybody, idle connections of the user with the most are dropped
    (`fair_share.py`)."""

    handshake_s: float = 5.0
    """For the TLS handshake. No other limit of the connection applies until it is done."""

    handshakes: int = 256
    """TLS handshakes under way; further callers wait for their turn, for at most `head_s`. So many take less
    CPU time than one of them may last: if all callers of a large cluster began at once, none would be
    done in time."""

    handshake_patience_s: float = 1.0
    """After it a handshake may be given up for a caller who waits. One takes some round trips."""

    head_s: float = 10.0
    """From the connection, or the first byte of a later request, to the end of the head."""

    request_s: float = 30.0
    """From the end of the head to the last byte of the response, whichever side is slow."""

    idle_s: float = 75.0
    """Between two requests. It is longer than the 60 s after which common proxies drop a
    connection, so that no proxy sends a request on a connection that we are just closing."""

    rest_s: float = math.inf
    """Between two requests, until a connection keeps no more than its transport: what it keeps for the next request
    is 10 KiB, and takes a twentieth of a millisecond to make anew."""

    ending_s: float = 1.0
    """For a caller to read a response after which we close, and to stop sending a body."""

    linger_s: float = 0.0
    """For callers who keep a connection and are just about to use it when the listener stops, and for those
    who have not heard yet that it does: it takes callers for this long before the drain, or until there are
    none, and each response says that its connection closes. A client does not repeat a POST on a connection
    that was closed as it sent."""

    drain_s: float = 1.0
    """For the current requests when the listener stops. A supervisor grants its tasks more."""
