"""A pod with a million sockets: what the kernel tells of them is given up early, in little memory, with a reason."""

import contextlib
import itertools
import struct
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.flow_reading import SocketsNotReadError
from nemutator_agent.usage.pod_sockets import MOST_SOCKETS, collect
from nemutator_agent.usage.sock_diag import DUMP, TcpSocket

MILLION = 1_000_000
IN_ONE = 200
"""Sockets in a datagram, as the kernel packs 64 KiB."""


def told(number: int) -> bytes:
    """One connection, as struct inet_diag_msg without attributes."""
    ports = struct.pack(">HH", 8080, 1 + number % 65_535)
    address = struct.pack(">I", 0x0A00_0000 + number).ljust(16, b"\0")
    cookie = struct.pack("=Q", number)
    body = b"\2\1\0\0" + ports + b"\0" * 16 + address + b"\0" * 4 + cookie + b"\0" * 20
    return struct.pack("=IHHII", 16 + len(body), DUMP, 2, 1, 0) + body


class Kernel:
    """Tells of so many sockets, and counts how many datagrams were asked for."""

    def __init__(self, count: int) -> None:
        self.read = 0
        self._rows = self._all(count)

    def _all(self, count: int) -> Iterator[bytes]:
        numbers = iter(range(count))
        while some := list(itertools.islice(numbers, IN_ONE)):
            yield b"".join(map(told, some))
        yield struct.pack("=IHHII", 20, 3, 2, 1, 0) + b"\0" * 4

    def __call__(self) -> bytes:
        self.read += 1
        return next(self._rows)


def never() -> float:
    return time.monotonic() + 3600


def test_a_million_sockets_are_given_up_after_a_few_thousand() -> None:
    kernel, found = Kernel(MILLION), list[TcpSocket]()
    tracemalloc.start()
    try:
        with pytest.raises(SocketsNotReadError) as error:
            collect(kernel, found, deadline=never(), most=MOST_SOCKETS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.value.reason == "many"
    assert len(found) <= MOST_SOCKETS + IN_ONE
    assert kernel.read <= MOST_SOCKETS // IN_ONE + 1
    assert peak < 32 << 20


def test_a_dump_that_takes_too_long_is_given_up() -> None:
    kernel = Kernel(MILLION)
    with pytest.raises(SocketsNotReadError) as error:
        collect(kernel, [], deadline=time.monotonic() - 1, most=MOST_SOCKETS)
    assert (error.value.reason, kernel.read) == ("slow", 1)


def test_as_many_as_are_taken_are_all_there() -> None:
    found = list[TcpSocket]()
    collect(Kernel(MOST_SOCKETS), found, deadline=never(), most=MOST_SOCKETS)
    assert len({one.cookie for one in found}) == MOST_SOCKETS


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_garbage_ends_it_and_raises_nothing_else(datagrams: list[bytes]) -> None:
    rows = iter(datagrams)

    def receive() -> bytes:
        try:
            return next(rows)
        except StopIteration:
            raise OSError from None

    # Among garbage may be what ends a dump.
    with contextlib.suppress(SocketsNotReadError):
        collect(receive, [], deadline=never(), most=MOST_SOCKETS)
