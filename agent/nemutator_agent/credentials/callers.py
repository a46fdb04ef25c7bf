"""Takes hold of whoever connects to a pod's socket, before the first byte."""

import socket

from nemutator_agent.identity.facts import Facts
from nemutator_agent.identity.peers import Peer, open_peer
from nemutator_agent.identity.refusals import RefusedError


class Unknown:
    """A caller whom the kernel does not name: let in as far as the answer that says so."""

    uid = -1

    def __init__(self, refused: RefusedError) -> None:
        self._refused = refused

    def facts(self) -> Facts:
        # A new one each time: the old would keep its frames, and with them the connection.
        raise RefusedError(self._refused.step, self._refused.why)

    def close(self) -> None:
        pass


KERNEL_BYTES = 16 << 10
"""Of an answer that nobody reads, in the kernel: it would hold 208 KiB, and all of it is our memory."""


def greet(accepted: socket.socket) -> Peer | Unknown:
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
    try:
        return open_peer(accepted)
    except RefusedError as refused:
        return Unknown(refused.with_traceback(None))
