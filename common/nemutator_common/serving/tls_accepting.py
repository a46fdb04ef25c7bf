"""How the callers of one listener come to TLS: one after another, with the certificate of the moment."""

import asyncio
import contextlib
import logging
import socket
from dataclasses import dataclass, field
from functools import partial

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.serving.connection import Connection
from nemutator_common.serving.handshaking import Handshake, Handshakes, TooManyWaitError
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.loop_sharing import LoopTurns
from nemutator_common.serving.readable_sockets import ReadableSockets
from nemutator_common.serving.sockets import source_of
from nemutator_common.serving.tls import TlsContext, reason
from nemutator_common.serving.tls_transport import TlsTransport, shaken_hands
from nemutator_common.serving.traffic import Traffic

log = logging.getLogger(__name__)

RELOAD_S = 5.0
"""The time between two checks of the certificate. cert-manager renews it days ahead, and kubelet
takes a minute to update its files."""

READS_A_TURN = 64
"""Callers who are heard in one turn of the event loop. To hear that one has gone takes 40 µs of CPU on a slow machine, a report
some 200."""

ENDS_A_TURN = 64
"""Connections that are done with in one turn, at 30 µs and as much for what waited for an answer."""

HANDSHAKES_A_TURN = 16
"""Steps of handshakes, one of which takes a millisecond."""


@dataclass(kw_only=True, eq=False)
class TlsAccepting:
    listener: str
    context: TlsContext
    process: Process
    limits: Limits
    traffic: Traffic
    buffered: bool
    """Whether each caller has buffers of its own."""
    _handshakes: Handshakes = field(init=False)
    _steps: LoopTurns = field(init=False)
    _readable: ReadableSockets = field(init=False)
    _ends: LoopTurns = field(init=False)

    def __post_init__(self) -> None:
        self._steps, self._ends = LoopTurns(HANDSHAKES_A_TURN), LoopTurns(ENDS_A_TURN)
        self._readable = ReadableSockets(READS_A_TURN)
        self._handshakes = Handshakes(
            self.limits.handshakes,
            self.limits.handshake_patience_s,
            changed=self.traffic.handshakes,
        )

    async def connect(self, accepted: socket.socket, connection: Connection) -> None:
        """Shake hands with *accepted* when it is its turn, and hand it to *connection*. It is closed where
        that fails; raises `TooManyWaitError` where others are in its way."""
        try:
            async with asyncio.timeout(self.limits.head_s):
                handshake = await self._handshakes.begin(
                    source_of(accepted), partial(_hang_up, accepted)
                )
        except BaseException as error:
            accepted.close()
            if isinstance(error, TimeoutError):
                raise TooManyWaitError("its turn has not come") from error
            raise
        try:
            await self._secure(accepted, connection, handshake)
        except Exception as error:
            if handshake.given_up:
                raise TooManyWaitError("given up for others") from error
            raise
        finally:
            self._handshakes.end(handshake)

    async def reload(self) -> None:
        """Take the certificate's files anew whenever they have changed."""
        while True:
            await self.process.clock.sleep(RELOAD_S)
            try:
                result = "taken" if self.context.refresh() else None
            except (OSError, ValueError) as error:
                result = "refused"
                log.error(
                    "certificate_refused",
                    {names.LISTENER: self.listener, names.ERROR: reason(error)},
                )
            if result is not None:
                self.process.meter.count(names.TLS_RELOADS, listener=self.listener, result=result)

    async def _secure(
        self, accepted: socket.socket, connection: Connection, handshake: Handshake
    ) -> None:
        def is_now(secured: socket.socket) -> None:
            handshake.give_up = partial(_hang_up, secured)

        async with asyncio.timeout(self.limits.handshake_s):
            secured = await shaken_hands(
                accepted,
                self.context.current,
                is_now,
                turns=self._steps,
                buffered=self.buffered,
            )
        try:
            TlsTransport(
                secured,
                connection,
                readable=self._readable,
                ends=self._ends,
                ending_s=self.limits.ending_s,
            )
        except BaseException:
            # It has gone already.
            secured.close()
            raise


def _hang_up(accepted: socket.socket) -> None:
    """Whoever waits for bytes from it, or to send some, is told at once."""
    with contextlib.suppress(OSError):
        # Not the method of one with TLS, which would forget its handshake.
        socket.socket.shutdown(accepted, socket.SHUT_RDWR)
