"""Ports of loopback that nobody listens on."""

import contextlib
import random
import socket

LOOPBACK = "127.0.0.1"

_RANGE = range(10_000, 30_000)
"""Below those that the kernel gives to connections: one of these would take a port before a program that
starts slowly listens on it. And below the NodePorts."""


def free_port(*, with_next: bool = False) -> int:
    """A port that was free just now; *with_next*: and the one after it (Vault's cluster port)."""
    for _ in range(1000):
        # Others who look for one at the same time should not find the same.
        port = random.SystemRandom().choice(_RANGE)
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for each in range(port, port + 1 + with_next):
                held.enter_context(socket.socket()).bind((LOOPBACK, each))
            return port
    raise OSError("no free ports")
