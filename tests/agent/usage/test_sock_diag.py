import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.sock_diag import (
    DUMP,
    ESTABLISHED,
    INFO,
    LISTEN,
    DumpEnd,
    TcpSocket,
    parse_dump,
    shown,
)

COOKIE = b"12345678"
MAPPED = b"\0" * 10 + b"\xff\xff" + bytes([10, 0, 0, 7])


def message(body: bytes, kind: int = DUMP) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 2, 1, 0) + body


def described(
    *,
    family: int = 2,
    state: int = ESTABLISHED,
    address: bytes = bytes([10, 0, 0, 7]),
    moved: tuple[int, int] | None = (100, 200),
) -> bytes:
    """A socket as the kernel tells it; *moved* is received and sent."""
    head = struct.pack("=BBBB", family, state, 0, 0) + struct.pack(">HH", 8080, 443)
    head += b"\0" * 16 + address.ljust(16, b"\0") + struct.pack("=I", 0) + COOKIE + b"\0" * 20
    # An attribute of three bytes comes first, padded to four.
    body = head + struct.pack("=HH", 7, 8) + b"ab\0\0"
    if moved is not None:
        info = b"\0" * 120 + struct.pack("=QQ", moved[1], moved[0]) + b"\0" * 80
        body += struct.pack("=HH", 4 + len(info), INFO) + info
    return message(body)


def test_a_socket_with_what_it_has_moved() -> None:
    expected = TcpSocket(COOKIE, False, 8080, bytes([10, 0, 0, 7]), 443, 100, 200)
    assert list(parse_dump(described())) == [expected]
    assert list(parse_dump(described(state=LISTEN))) == [expected._replace(listens=True)]
    assert list(parse_dump(described(moved=None))) == [expected._replace(received=0, sent=0)]


def test_an_ipv4_peer_of_an_ipv6_socket_is_shown_as_what_it_is() -> None:
    [mapped] = parse_dump(described(family=10, address=MAPPED))
    assert isinstance(mapped, TcpSocket)
    assert shown(mapped.address) == "10.0.0.7"
    [real] = parse_dump(described(family=10, address=b"\xfd" + b"\0" * 14 + b"\1"))
    assert isinstance(real, TcpSocket)
    assert shown(real.address) == "fd00::1"


def test_a_dump_ends_where_the_kernel_says_so() -> None:
    done = message(b"\0\0\0\0", kind=3)
    assert list(parse_dump(described() + done + described()))[1:] == [DumpEnd(0)]
    refused = message(struct.pack("=i", -1), kind=2)
    assert list(parse_dump(refused)) == [DumpEnd(1)]


@pytest.mark.parametrize("cut", [1, 15, 17, 40, 100])
def test_what_is_cut_or_lies_about_its_length_is_an_error(cut: int) -> None:
    rows = list(parse_dump(described()[:cut]))
    assert all(isinstance(row, DumpEnd) and row.error for row in rows)
    lying = struct.pack("=IHHII", 4, DUMP, 0, 0, 0)
    assert list(parse_dump(lying)) == [DumpEnd(-1)]


@given(st.binary(max_size=400))
def test_any_bytes_are_taken_apart_in_bounded_time(datagram: bytes) -> None:
    for content in (datagram, described() + datagram, message(datagram)):
        assert len(list(parse_dump(content))) <= len(content) // 16 + 1
