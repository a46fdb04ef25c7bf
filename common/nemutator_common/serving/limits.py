"""What one listener lets its callers take: bytes, connections and time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Defaults for a listener whose callers are strangers with small requests.

    One connection holds at most `2 * body_bytes + head_bytes` of what its caller sent ahead of us
    (more is a flood), one read of the event loop (64 KiB by TCP, 256 by a unix socket), and the
    `body_bytes` that a handler reads. With the defaults that is 3.3 MiB; the worst that was measured
    is 2.0. A listener may hold that for each of its `connections`: where the process must be small,
    lower one of the two.
    """

    head_bytes: int = 16 << 10
    """Request line and headers together. Browsers send 1-4 KiB; cookies of other services on the
    same host can make it 8."""

    headers: int = 64
    """Each costs the parser a tuple and two strings, however short it is."""

    body_bytes: int = 1 << 20
    """One body, after decompression."""

    receive_bytes: int = 32 << 10
    """What the kernel keeps of a TCP connection's bytes for us; it grants twice that. An event loop
    keeps for each TLS connection the pages that its largest read has touched, of thousands of
    callers. Less is a smaller window: a body of 1 MiB over 10 ms needs 160 ms more."""

    connections: int = 1024
    """At once, those in their TLS handshake included. One idle costs about 6 KiB."""

    connections_each: int | None = None
    """Of these, what one user may hold on a unix socket that several share. Over it, and when there
    is no room for anybody, idle ones of whoever has most give way (`sharing.py`)."""

    handshake_s: float = 5.0
    """For TLS. Nothing else of the connection is bounded until it is done."""

    head_s: float = 10.0
    """From the connection, or the first byte of a later request, to the end of the head."""

    request_s: float = 30.0
    """From the end of the head to the last byte of the answer, whoever is slow."""

    idle_s: float = 75.0
    """Between two requests. Longer than the 60 s after which common proxies drop a connection, so
    that the one who sends next is not the one who learns of the end."""

    ending_s: float = 1.0
    """For a caller to take an answer after which we close, and to stop sending a body."""

    drain_s: float = 1.0
    """For requests under way when the listener stops. Less than a supervisor grants a task."""
