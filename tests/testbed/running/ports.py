"""Ports of loopback that nobody listens on."""

import contextlib
import socket

LOOPBACK = "127.0.0.1"


def free_port(*, with_next: bool = False) -> int:
    """A port that was free just now; *with_next*: and the one after it (Vault's cluster port)."""
    for _ in range(100):
        with contextlib.ExitStack() as held:
            port = _bind(held, 0)
            if not with_next:
                return port
            with contextlib.suppress(OSError, OverflowError):
                _bind(held, port + 1)
                return port
    raise OSError("no two free ports beside each other")


def _bind(held: contextlib.ExitStack, port: int) -> int:
    probe = held.enter_context(socket.socket())
    probe.bind((LOOPBACK, port))
    number = probe.getsockname()[1]
    assert isinstance(number, int)
    return number
