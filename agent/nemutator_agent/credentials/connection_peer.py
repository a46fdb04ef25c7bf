"""Takes hold of the process that connects to a pod's socket, before the first byte."""

import socket
from dataclasses import dataclass

from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Peer, open_peer


@dataclass(eq=False, slots=True)
class UnknownPeer:
    """A caller whom the kernel does not name: it gets this refusal, whatever it asks."""

    uid = -1

    refused: AttestationError

    def facts(self) -> ProcessFacts:
        # A new one each time: the old one would keep its frames, and with them the connection.
        raise AttestationError(self.refused.step, self.refused.why)

    def close(self) -> None:
        pass


KERNEL_BYTES = 16 << 10
"""Bytes of an unread answer that the kernel keeps, where its default of 208 KiB would be our memory."""


def accept_peer(accepted: socket.socket) -> Peer | UnknownPeer:
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
    try:
        return open_peer(accepted)
    except AttestationError as refused:
        return UnknownPeer(refused.with_traceback(None))
