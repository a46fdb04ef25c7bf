"""A port of a pod as the API server forwards it (`v4.channel.k8s.io`), in WebSocket's frames (RFC 6455).

The command line needs one connection to one port, one message after another; a package for WebSocket
costs more time to import than the question takes.
"""

import base64
import hashlib
from dataclasses import dataclass, field

PROTOCOL = "v4.channel.k8s.io"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""RFC 6455, 1.3: what a server adds to our key, to show that it speaks WebSocket."""

CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
LARGEST = 16 << 20
"""Bytes of one message: the API server sends what a pod sent, some kilobytes at a time."""

DATA, FAULT = 0, 1
"""The channels of the first port."""

LONGEST_FAULT = 1000


class FrameError(ValueError):
    """What came is not what the API server sends."""


def accepted(key: str) -> str:
    """What a server answers to *key*."""
    digest = hashlib.sha1((key + GUID).encode(), usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def client_frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """One whole message; *mask* is four bytes that nobody can foresee."""
    size = len(payload)
    if size < 126:
        head = bytes((0x80 | opcode, 0x80 | size))
    elif size < 1 << 16:
        head = bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((0x80 | opcode, 0x80 | 127)) + size.to_bytes(8, "big")
    repeated = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")
    return head + mask + masked.to_bytes(size, "big")


@dataclass(slots=True)
class FrameReader:
    """Bytes of a server → whole messages, with their opcode."""

    _kept: bytearray = field(default_factory=bytearray)
    _begun: tuple[int, bytearray] | None = None

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Raises FrameError."""
        self._kept += data
        found = []
        while (frame := self._frame()) is not None:
            last, opcode, payload = frame
            if opcode >= CLOSE:
                if not last or len(payload) > 125:
                    raise FrameError("a control frame that is too long")
                found.append((opcode, payload))
            elif (message := self._joined(last, opcode, payload)) is not None:
                found.append(message)
        return found

    def _frame(self) -> tuple[bool, int, bytes] | None:
        kept = self._kept
        if len(kept) < 2:
            return None
        if kept[0] & 0x70 or kept[1] & 0x80:
            raise FrameError("a frame with an extension or a mask, and nobody has agreed on one")
        size, begin = kept[1], 2
        if size >= 126:
            begin = 4 if size == 126 else 10
            if len(kept) < begin:
                return None
            size = int.from_bytes(kept[2:begin], "big")
        if size > LARGEST:
            raise FrameError("a frame that is too long")
        if len(kept) < begin + size:
            return None
        frame = bool(kept[0] & 0x80), kept[0] & 0x0F, bytes(kept[begin : begin + size])
        del kept[: begin + size]
        return frame

    def _joined(self, last: bool, opcode: int, payload: bytes) -> tuple[int, bytes] | None:
        if (opcode == CONTINUED) != (self._begun is not None):
            raise FrameError("a message inside of another one")
        if self._begun is None:
            if opcode not in (TEXT, BINARY):
                raise FrameError("a frame of an unknown kind")
            if last:
                return opcode, payload
            self._begun = opcode, bytearray()
        kind, parts = self._begun
        parts += payload
        if len(parts) > LARGEST:
            raise FrameError("a message that is too long")
        if not last:
            return None
        self._begun = None
        return kind, bytes(parts)


@dataclass(slots=True)
class PortReader:
    """Messages of the API server → what the pod has sent."""

    port: int
    fault: str = ""
    """What kubelet says of the port; the connection is of no use then."""
    _opened: set[int] = field(default_factory=set)

    def data_in(self, message: bytes) -> bytes:
        """Raises FrameError."""
        if not message or message[0] not in (DATA, FAULT):
            raise FrameError("a channel that nobody has asked for")
        channel, content = message[0], message[1:]
        if channel not in self._opened:
            # The first message of each channel says whose it is.
            if content != self.port.to_bytes(2, "little"):
                raise FrameError("another port than that which was asked for")
            self._opened.add(channel)
            return b""
        if channel == DATA:
            return content
        self.fault = (self.fault + content.decode("utf-8", "replace"))[:LONGEST_FAULT]
        return b""
