"""TLS on an accepted socket, through buffers in memory: all that has come is read at once, and all that goes is written at
once, where OpenSSL itself reads each record in two parts and never more than one.

For callers who are few and ask often. The buffers stay as large as they ever had to be, for as long as a connection lives.
"""

import contextlib
import socket
import ssl

READ_BYTES = 64 << 10
"""The most that is read at once."""

WRITTEN_BYTES = 64 << 10
"""The most that is encrypted before the kernel has taken it."""

RECORD_BYTES = 16 << 10


class BufferedTls:
    """As much of an `ssl.SSLSocket` that never waits as `TlsTransport` needs."""

    __slots__ = ("_begun", "_incoming", "_kept", "_outgoing", "_tls", "_unsent", "socket")

    def __init__(self, accepted: socket.socket, context: ssl.SSLContext) -> None:
        self.socket = accepted
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._unsent = memoryview(b"")
        """What is encrypted, and the kernel has not taken."""
        self._begun = 0
        """Bytes of what was to be sent that are encrypted, while not all of them are sent."""
        self._kept: ssl.SSLError | bytes | None = None
        """What comes after the bytes that were received: an error, or the end."""

    @property
    def context(self) -> ssl.SSLContext:
        return self._tls.context

    def fileno(self) -> int:
        return self.socket.fileno()

    def getpeername(self) -> object:
        return self.socket.getpeername()

    def getpeercert(self) -> object:
        return self._tls.getpeercert()

    def do_handshake(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._take()
            except ssl.SSLError:
                # The other side is told why, where it can be.
                with contextlib.suppress(OSError):
                    self._flush()
                raise
            else:
                self._flush()
                return

    def recv(self) -> bytes:
        """All that has come; empty: nothing more will. Raises as an `SSLSocket` does."""
        kept, self._kept = self._kept, None
        if isinstance(kept, bytes):
            return kept
        if kept is not None:
            raise kept
        incoming = self._incoming
        # What came with the end of the handshake is here already.
        if not incoming.pending:
            self._take()
        try:
            received = self._tls.read(RECORD_BYTES)
            if incoming.pending and received:
                received = self._with_more(received)
        except ssl.SSLEOFError:
            received = b""
        except ssl.SSLError:
            self._answer()
            raise
        if self._outgoing.pending:
            self._answer()
        return received

    def pending(self) -> bool:
        """Whether something is to be received that the kernel does not tell of any more."""
        return self._kept is not None or self._incoming.pending > 0

    def send(self, data: memoryview) -> int:
        """How much of it was sent. When it would have to wait, it has to be called with the same again."""
        if not self._begun:
            self._begun = self._tls.write(data[:WRITTEN_BYTES])
        self._flush()
        sent, self._begun = self._begun, 0
        return sent

    def unwrap(self) -> None:
        """Say that nothing more comes; an SSLError if the other side has not said so."""
        try:
            self._tls.unwrap()
        finally:
            self._flush()

    def close(self) -> None:
        self.socket.close()

    def _take(self) -> None:
        try:
            data = self.socket.recv(READ_BYTES)
        except BlockingIOError:
            raise ssl.SSLWantReadError from None
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _with_more(self, received: bytes) -> bytes:
        """With what further records say. The last one may not have come whole."""
        pieces, incoming = [received], self._incoming
        try:
            while incoming.pending:
                piece = self._tls.read(RECORD_BYTES)
                if not piece:
                    self._kept = b""
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._kept = error
        return b"".join(pieces)

    def _answer(self) -> None:
        """Send what TLS itself has to say, as soon as the kernel takes it."""
        with contextlib.suppress(OSError):
            self._flush()

    def _flush(self) -> None:
        while True:
            if not self._unsent:
                if not self._outgoing.pending:
                    return
                self._unsent = memoryview(self._outgoing.read())
            try:
                sent = self.socket.send(self._unsent)
            except BlockingIOError:
                raise ssl.SSLWantWriteError from None
            self._unsent = self._unsent[sent:]
