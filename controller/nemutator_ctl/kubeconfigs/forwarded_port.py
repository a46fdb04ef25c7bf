"""A connection to one port of one pod, and TLS inside of it."""

import contextlib
import http.client
import io
import os
import ssl
from typing import TYPE_CHECKING

from nemutator_ctl.kubeconfigs.port_frames import (
    BINARY,
    CLOSE,
    DATA,
    PING,
    PONG,
    FrameError,
    FrameReader,
    PortReader,
    client_frame,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 64 << 10


class ForwardedPort:
    """Bytes there and back; raises OSError."""

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        port: int,
    ) -> None:
        self._connection = connection
        self._response = response
        # What came behind the head of the answer waits in this buffer.
        assert response.fp is not None
        self._reader: io.BufferedReader = response.fp
        self._frames = FrameReader()
        self._port = PortReader(port)
        self._waiting: list[bytes] = []
        self._ended = False

    def settimeout(self, seconds: float) -> None:
        self._connection.sock.settimeout(seconds)

    def send(self, data: bytes) -> None:
        for begin in range(0, len(data), CHUNK):
            self._write(BINARY, bytes((DATA,)) + data[begin : begin + CHUNK])

    def receive(self) -> bytes:
        """What comes next; empty at the end."""
        while not self._waiting and not self._ended:
            self._read()
        return self._waiting.pop(0) if self._waiting else b""

    def close(self) -> None:
        """Says so first: kubelet ends its connection to the pod then, and not when it notices."""
        with contextlib.suppress(OSError):
            self._write(CLOSE, b"")
        self._response.close()
        self._connection.close()

    def _read(self) -> None:
        data = self._reader.read1(CHUNK)
        try:
            messages = self._frames.feed(data)
            for opcode, payload in messages:
                if opcode == PING:
                    self._write(PONG, payload)
                elif opcode == CLOSE:
                    self._ended = True
                elif opcode != PONG and (found := self._port.data_in(payload)):
                    self._waiting.append(found)
        except FrameError as error:
            raise ConnectionAbortedError(f"the API server sent {error}") from error
        if self._port.fault:
            raise ConnectionRefusedError(" ".join(self._port.fault.split())[:200])
        self._ended = self._ended or not data

    def _write(self, opcode: int, payload: bytes) -> None:
        self._connection.sock.sendall(client_frame(opcode, payload, os.urandom(4)))


class TlsInside:
    """What http.client needs of a socket, encrypted inside of a forwarded port."""

    def __init__(self, port: ForwardedPort, context: ssl.SSLContext, name: str) -> None:
        self._port = port
        self._arriving, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arriving, self._leaving, server_hostname=name)
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._exchange()
        self._flush()

    def sendall(self, data: bytes | bytearray | memoryview) -> None:
        view = memoryview(data)
        while view:
            view = view[self._tls.write(view) :]
            self._flush()

    def receive_into(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        while True:
            try:
                return self._tls.read(len(view), view)  # type: ignore[return-value]
            except ssl.SSLWantReadError:
                self._exchange()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return 0

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """Nothing: http.client does this while it still reads. Whoever made the port closes it."""

    def say_goodbye(self) -> None:
        """So that the other end does not wait for it."""
        with contextlib.suppress(OSError):
            with contextlib.suppress(ssl.SSLWantReadError):
                self._tls.unwrap()
            self._flush()

    def _exchange(self) -> None:
        self._flush()
        if data := self._port.receive():
            self._arriving.write(data)
        else:
            self._arriving.write_eof()

    def _flush(self) -> None:
        if data := self._leaving.read():
            self._port.send(data)


class _Incoming(io.RawIOBase):
    def __init__(self, inside: TlsInside) -> None:
        super().__init__()
        self._inside = inside

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        return self._inside.receive_into(buffer)
