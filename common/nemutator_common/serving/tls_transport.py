"""TLS on an accepted socket, of which OpenSSL itself reads and writes.

The event loop's own transport keeps, for as long as a connection lives, what its largest read has touched, and the
buffers between it and OpenSSL. Ten thousand agents that say something once a minute need none of that in between.
"""

import asyncio
import contextlib
import os
import socket
import ssl
from collections import deque
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any

from nemutator_common.serving.buffered_tls import RECORD_BYTES, BufferedTls
from nemutator_common.serving.loop_sharing import LoopTurns
from nemutator_common.serving.readable_sockets import ReadableSockets

SecuredSocket = ssl.SSLSocket | BufferedTls

HIGH_BYTES = 64 << 10
LOW_BYTES = HIGH_BYTES // 4
"""Of what waits to be sent: the protocol is told to pause above the one, and to go on below the other."""

_DISCARDED_BYTES = 64 << 10


async def shaken_hands(
    accepted: socket.socket,
    context: ssl.SSLContext,
    changed: Callable[[socket.socket], None],
    *,
    turns: LoopTurns,
    buffered: bool = False,
) -> SecuredSocket:
    """*accepted* after its TLS handshake, each step of which is a piece of *turns*; it is closed where that fails.
    *changed* hears which socket it is by now."""
    loop = asyncio.get_running_loop()
    # As event loops do: an answer of two records would otherwise wait until the first one is acknowledged.
    with contextlib.suppress(OSError):
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    secured: SecuredSocket
    if buffered:
        secured = BufferedTls(accepted, context)
    else:
        secured = context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
        changed(secured)
    try:
        while True:
            await turns.room()
            try:
                secured.do_handshake()
                return secured
            except ssl.SSLWantReadError:
                await _ready(secured, loop.add_reader, loop.remove_reader)
            except ssl.SSLWantWriteError:
                await _ready(secured, loop.add_writer, loop.remove_writer)
    except BaseException:
        secured.close()
        raise


async def _ready(
    waiting: SecuredSocket,
    add: Callable[[int, Callable[[], None]], object],
    remove: Callable[[int], object],
) -> None:
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def is_ready() -> None:
        if not ready.done():
            ready.set_result(None)

    add(waiting.fileno(), is_ready)
    try:
        await ready
    finally:
        remove(waiting.fileno())


class TlsTransport(asyncio.Transport):
    """What *secured* is to *protocol*, once it has shaken hands. The end of the other side is waited for *ending_s*.

    *readable* says when there is something to read, and its end is one of *ends*: of both each turn of the loop has so many.
    """

    __slots__ = (
        "_certificate",
        "_closing",
        "_ending_s",
        "_ends",
        "_fd",
        "_loop",
        "_over",
        "_paused",
        "_peer",
        "_protocol",
        "_readable_sockets",
        "_reading",
        "_receive",
        "_secured",
        "_socket",
        "_stalled",
        "_timer",
        "_unsent",
        "_unsent_bytes",
        "_writing",
    )

    def __init__(
        self,
        secured: SecuredSocket,
        protocol: asyncio.Protocol,
        *,
        readable: ReadableSockets,
        ends: LoopTurns,
        ending_s: float,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._secured = secured
        self._receive: Callable[[], bytes]
        if isinstance(secured, BufferedTls):
            self._socket, self._receive = secured.socket, secured.recv
        else:
            self._socket, self._receive = secured, partial(secured.recv, RECORD_BYTES)
        self._fd = secured.fileno()
        self._protocol = protocol
        self._readable_sockets = readable
        self._ends = ends
        self._ending_s = ending_s
        self._peer = secured.getpeername()
        self._certificate = secured.getpeercert()
        self._closing = False
        self._over = False
        self._paused = False
        self._stalled = False
        """Whether the protocol was told to pause."""
        self._reading = False
        self._writing = False
        self._timer: asyncio.TimerHandle | None = None
        self._unsent: deque[memoryview] | None = None
        self._unsent_bytes = 0
        protocol.connection_made(self)
        if not self._closing:
            self._read_on()
            if secured.pending():
                self._loop.call_soon(self._readable)

    # --- from the protocol -----------------------------------------------------------------------
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        match name:
            case "peername":
                return self._peer
            case "peercert":
                return self._certificate
            case "socket":
                return self._socket
            case "ssl_object":
                return self._secured
            case "sslcontext":
                return self._secured.context
            case _:
                return default

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return not (self._paused or self._closing)

    def pause_reading(self) -> None:
        self._paused = True
        self._stop_reading()

    def resume_reading(self) -> None:
        if self._paused and not self._closing:
            self._paused = False
            self._read_on()
            if self._secured.pending():
                self._loop.call_soon(self._readable)

    def get_write_buffer_size(self) -> int:
        return self._unsent_bytes

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return LOW_BYTES, HIGH_BYTES

    def can_write_eof(self) -> bool:
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        if self._unsent is None:
            self._unsent = deque()
        # A copy of what its owner may change.
        self._unsent.append(memoryview(data if isinstance(data, bytes) else bytes(data)))
        self._unsent_bytes += len(data)
        if not self._writing:
            self._send()

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._stop_reading()
        if not self._unsent_bytes:
            self._say_goodbye()

    def abort(self) -> None:
        self._end(None)

    # --- from the event loop ---------------------------------------------------------------------
    def _take(self) -> None:
        if self._timer is not None:
            self._discard()
        else:
            self._readable()

    def _readable(self) -> None:
        if self._paused or self._closing:
            return
        try:
            data = self._receive()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLWantWriteError:
            # It has to answer something of its own first; until then what can be read would be tried again and again.
            self._stop_reading()
            self._write_on()
            return
        except OSError as error:
            self._end(error)
            return
        try:
            if data:
                self._protocol.data_received(data)
            else:
                self._protocol.eof_received()
                self.close()
        except Exception as error:  # noqa: BLE001 - as each transport does
            self._loop.call_exception_handler(
                {"message": "a protocol failed", "exception": error, "transport": self}
            )
            self._end(error)
            return
        if self._secured.pending() and self.is_reading():
            self._loop.call_soon(self._readable)

    def _writable(self) -> None:
        self._stop_writing()
        if self.is_reading():
            self._read_on()
        if self._unsent_bytes:
            self._send()
        else:
            self._readable()

    def _send(self) -> None:
        unsent = self._unsent
        while unsent:
            try:
                sent = self._secured.send(unsent[0])
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                # What has to be read first is read as soon as it comes.
                self._write_on()
                break
            except OSError as error:
                self._end(error)
                return
            self._unsent_bytes -= sent
            if sent == len(unsent[0]):
                unsent.popleft()
            else:
                unsent[0] = unsent[0][sent:]
        if not unsent:
            self._unsent = None
            if self._closing:
                self._say_goodbye()
        self._tell_pace()

    def _tell_pace(self) -> None:
        if not self._stalled and self._unsent_bytes > HIGH_BYTES:
            self._stalled = True
            self._protocol.pause_writing()
        elif self._stalled and self._unsent_bytes <= LOW_BYTES and not self._over:
            self._stalled = False
            self._protocol.resume_writing()

    def _say_goodbye(self) -> None:
        """Say that nothing more comes, and wait a little for the other side: what it has sent last would otherwise be answered by
        the kernel with a reset, which can overtake our answer."""
        try:
            with contextlib.suppress(ssl.SSLError):
                self._secured.unwrap()
            # Not the method of one with TLS, which would forget its handshake.
            socket.socket.shutdown(self._socket, socket.SHUT_WR)
        except OSError as error:
            self._end(error)
            return
        self._timer = self._loop.call_later(self._ending_s, self._end, None)
        self._read_on()

    def _discard(self) -> None:
        # Once for each turn of the loop: who never stops sending holds nobody else up.
        try:
            if os.read(self._fd, _DISCARDED_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._end(None)

    def _read_on(self) -> None:
        if not self._reading:
            self._reading = True
            self._readable_sockets.add(self._fd, self._take)

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._readable_sockets.remove(self._fd)

    def _write_on(self) -> None:
        if not self._writing:
            self._writing = True
            _NOBODY.run(self._loop.add_writer, self._fd, self._writable)

    def _stop_writing(self) -> None:
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _end(self, error: Exception | None) -> None:
        if self._over:
            return
        self._over = self._closing = True
        self._stop_reading()
        self._stop_writing()
        if self._timer is not None:
            self._timer.cancel()
        self._unsent, self._unsent_bytes = None, 0
        self._ends.later(partial(self._lost, error))

    def _lost(self, error: Exception | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            self._secured.close()


_NOBODY = Context()
"""In which callbacks are called, and not in that of whichever request goes on just now."""
