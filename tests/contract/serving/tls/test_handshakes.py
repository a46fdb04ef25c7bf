"""Callers who begin a handshake, or none, and stand in the way of others."""

import asyncio
import contextlib
import dataclasses
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.addresses import TcpAddress

from tests.contract.serving.tls.pairs import (
    name_for_a_newcomer,
    sooner_or_later,
    trusting,
    write_pair,
)
from tests.fakes.listeners import (
    GET,
    HASTE_S,
    LIMITS,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
)


@pytest.mark.parametrize("sent", [GET, b"\x16\x03\x01", b""], ids=["plain", "half", "silent"])
async def test_what_is_no_handshake_ends(tmp_path: Path, sent: bytes) -> None:
    limits = dataclasses.replace(LIMITS, handshake_s=HASTE_S)
    files = write_pair(tmp_path, "x")
    async with listening(Listener(limits=limits, tls=files)) as listener:
        await listener.ask(sent)
        await listener.quiet()
        assert listener.dropped("handshake") == 1
        async with asyncio.timeout(PATIENCE_S):
            assert await sooner_or_later(listener) == "x"


@contextlib.contextmanager
def strangers() -> Iterator[list[socket.socket]]:
    """Those who connect and say nothing, until the end."""
    made: list[socket.socket] = []
    try:
        yield made
    finally:
        for one in made:
            one.close()


async def come(listener: Listener, source: str, count: int, made: list[socket.socket]) -> None:
    address = listener.server.address
    assert isinstance(address, TcpAddress)
    for _ in range(count):
        made.append(socket.socket())
        made[-1].setblocking(False)
        made[-1].bind((source, 0))
        await asyncio.get_running_loop().sock_connect(made[-1], (address.host, address.port))


def handshakes(listener: Listener) -> float:
    return listener.meter.value(names.HTTP_HANDSHAKES, listener="test")


async def test_who_connects_and_says_nothing_gives_way_to_who_comes_from_elsewhere(
    tmp_path: Path,
) -> None:
    limits = dataclasses.replace(LIMITS, handshakes=3, handshake_patience_s=PATIENCE_S)
    files = write_pair(tmp_path, "x")
    with strangers() as made:
        async with listening(Listener(limits=limits, tls=files)) as listener:
            await come(listener, "127.0.0.2", 10, made)
            await come(listener, "127.0.0.3", 5, made)
            async with asyncio.timeout(PATIENCE_S):
                assert await name_for_a_newcomer(listener) == "x"
            assert handshakes(listener) <= 3
            assert listener.dropped("too_many") > 0


async def test_who_says_nothing_from_the_same_address_gives_way_after_a_while(
    tmp_path: Path,
) -> None:
    limits = dataclasses.replace(LIMITS, handshakes=2, handshake_patience_s=HASTE_S / 10)
    files = write_pair(tmp_path, "x")
    with strangers() as made:
        async with listening(Listener(limits=limits, tls=files)) as listener:
            await come(listener, "127.0.0.1", 6, made)
            async with asyncio.timeout(PATIENCE_S):
                assert await sooner_or_later(listener) == "x"
            assert listener.dropped("too_many") >= 5
            assert handshakes(listener) <= 2


async def test_a_stop_waits_for_nobody_who_waits_for_a_handshake(tmp_path: Path) -> None:
    limits = dataclasses.replace(LIMITS, handshakes=1, handshake_patience_s=PATIENCE_S)
    files = write_pair(tmp_path, "x")
    with strangers() as made:
        async with listening(Listener(limits=limits, tls=files)) as listener:
            await come(listener, "127.0.0.1", 4, made)
            await listener.until(lambda: handshakes(listener) == 1)
        assert handshakes(listener) == 0


async def test_a_handshake_that_has_begun_as_the_listener_stops_is_finished(tmp_path: Path) -> None:
    limits = dataclasses.replace(LIMITS, linger_s=HASTE_S, drain_s=PATIENCE_S)
    listener = Listener(tls=write_pair(tmp_path, "x"), limits=limits)
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call()
        await listener.until(lambda: listener.server.connections == 1)
        running.cancel()
        await asyncio.sleep(0)
        await writer.start_tls(trusting())
        writer.write(GET)
        async with closing(writer):
            assert b"Connection: close" in await everything(reader)
    assert listener.dropped("handshake") == 0
