"""Messages of sock_diag(7): the TCP sockets of one network namespace, with what each has moved.

They are taken apart here and not by pyroute2, which takes 40 us for a socket and keeps all of a dump in
memory: a pod may have a million sockets.
"""

import ipaddress
import struct
from collections.abc import Iterator
from typing import NamedTuple

DUMP = 20
"""SOCK_DIAG_BY_FAMILY."""
_DONE, _ERROR = 3, 2

ESTABLISHED, LISTEN = 1, 10

_HEADER = struct.Struct("=IHHII")
# struct inet_diag_msg up to the cookie: family, state, timer, retrans, ports, addresses, interface.
_SOCKET = struct.Struct("=BBBB2s2s16s16sI8s")
_ATTRIBUTES_AT = 72
_ATTRIBUTE = struct.Struct("=HH")
INFO = 2
"""INET_DIAG_INFO."""
# struct tcp_info: bytes that the peer has acknowledged, and bytes received. Linux >= 4.1.
_MOVED = struct.Struct("=QQ")
_MOVED_AT = 120
_MAPPED = b"\0" * 10 + b"\xff\xff"
_IPV6 = 10


class TcpSocket(NamedTuple):
    cookie: bytes
    """Tells it from every other socket, later ones too."""
    listens: bool
    local_port: int
    address: bytes
    """Of the peer, 4 or 16 bytes."""
    port: int
    received: int
    sent: int


class DumpEnd(NamedTuple):
    error: int
    """0, or the kernel's number."""


def parse_dump(datagram: bytes) -> Iterator[TcpSocket | DumpEnd]:
    """The sockets in one datagram of an answer; what is malformed ends it with an error."""
    at = 0
    while at + _HEADER.size <= len(datagram):
        length, kind, *_ = _HEADER.unpack_from(datagram, at)
        if length < _HEADER.size or at + length > len(datagram):
            yield DumpEnd(-1)
            return
        body = datagram[at + _HEADER.size : at + length]
        if kind == _DONE:
            yield DumpEnd(0)
            return
        if kind == _ERROR:
            yield DumpEnd(-struct.unpack_from("=i", body)[0] if len(body) >= 4 else -1)
            return
        if kind == DUMP and len(body) >= _ATTRIBUTES_AT:
            yield _socket(body)
        at += (length + 3) & ~3


def _socket(body: bytes) -> TcpSocket:
    family, state, _, _, local_port, port, _, address, _, cookie = _SOCKET.unpack_from(body)
    if family != _IPV6:
        address = address[:4]
    elif address.startswith(_MAPPED):
        address = address[12:]
    received, sent = _moved(body)
    return TcpSocket(
        cookie,
        state == LISTEN,
        int.from_bytes(local_port),
        address,
        int.from_bytes(port),
        received,
        sent,
    )


def _moved(body: bytes) -> tuple[int, int]:
    at = _ATTRIBUTES_AT
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        if length < _ATTRIBUTE.size:
            break
        if kind == INFO and length >= _ATTRIBUTE.size + _MOVED_AT + _MOVED.size:
            begin = at + _ATTRIBUTE.size + _MOVED_AT
            if begin + _MOVED.size <= len(body):
                acked, received = _MOVED.unpack_from(body, begin)
                return received, acked
        at += (length + 3) & ~3
    return 0, 0


def shown(address: bytes) -> str:
    return str(ipaddress.ip_address(address))
