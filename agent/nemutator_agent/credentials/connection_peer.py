"""Takes hold of the process that connects to a socket, before the first byte."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf

from nemutator_common.process import Process
from nemutator_common.serving.sockets import peer_of

from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.listen_queues import ListenQueues
from nemutator_agent.identity.peers import Hold, Peer, by_best, names_peers, open_peer


@dataclass(eq=False, slots=True)
class UnknownPeer:
    """A caller whom the kernel does not name: it gets this refusal, whatever it asks."""

    uid = -1

    refused: AttestationError
    shown: str
    """What the kernel does say of it, for the log."""

    def facts(self, *, program: bool = True) -> ProcessFacts:
        # A new one each time: the old one would keep its frames, and with them the connection.
        raise AttestationError(self.refused.step, self.refused.why)

    def close(self) -> None:
        pass


KERNEL_BYTES = 16 << 10
"""Bytes of an unread answer that the kernel keeps, where its default of 208 KiB would be our memory."""


POLL_EVERY_S = 0.1
"""A process that has run for this long before it connects is known, unless connections of others waited
longer than that. Shells, Python and most programs take some of it to start."""


class PeerAcceptance:
    """Accepts the peers of several listening sockets."""

    def __init__(self, process: Process, *, hold: Hold = by_best) -> None:
        self._clock = process.clock
        self._hold = hold
        self._queues = None if hold is by_best and names_peers() else ListenQueues()

    def of(self, listening: socket.socket) -> Callable[[socket.socket], Peer | UnknownPeer]:
        """What accepts the peers of *listening*, until `leave`."""
        if self._queues is not None:
            self._queues.add(listening)
        return partial(self._accept, listening)

    def leave(self, listening: socket.socket) -> None:
        if self._queues is not None:
            self._queues.remove(listening)

    @property
    def polls(self) -> bool:
        """Whether it has to run, because the kernel does not say which process has connected."""
        return self._queues is not None

    async def run(self) -> None:
        """Poll the queues until cancelled."""
        while True:
            self.poll()
            await self._clock.sleep(POLL_EVERY_S)

    def poll(self) -> None:
        if self._queues is not None:
            self._queues.poll()

    def _accept(self, listening: socket.socket, accepted: socket.socket) -> Peer | UnknownPeer:
        after = -inf if self._queues is None else self._queues.empty_at(listening)
        return accept_peer(accepted, hold=self._hold, connected_after=after)


def accept_peer(
    accepted: socket.socket, *, hold: Hold = by_best, connected_after: float = -inf
) -> Peer | UnknownPeer:
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
    try:
        return open_peer(accepted, hold=hold, connected_after=connected_after)
    except AttestationError as refused:
        return UnknownPeer(refused.with_traceback(None), peer_of(accepted))
