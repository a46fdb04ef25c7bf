"""What happens to many callers at the same moment is worked off in parts, between which all others have their turn."""

import asyncio
import contextlib
import dataclasses
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from nemutator_common.serving.loop_sharing import LoopTurns
from nemutator_common.serving.readable_sockets import ReadableSockets
from nemutator_common.serving.tls_accepting import ENDS_A_TURN
from nemutator_common.serving.tls_transport import TlsTransport, shaken_hands

from tests.contract.serving.tls.pairs import trusting, write_pair
from tests.fakes.listeners import GET, LIMITS, PATIENCE_S, Listener, everything, listening

MOST = 10
MANY = 80


class Seen(asyncio.Protocol):
    """What happened to all connections, together."""

    def __init__(self, noted: dict[str, int]) -> None:
        self._noted = noted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._noted["made"] += 1

    def data_received(self, data: bytes) -> None:
        self._noted["bytes"] += len(data)
        self._noted["received"] += 1

    def eof_received(self) -> None:
        self._noted["ends"] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._noted["lost"] += 1


class Turns:
    """A callback that comes once in each turn of the loop, and notes what has happened since."""

    def __init__(self, seen: Callable[[], dict[str, int]]) -> None:
        self._seen = seen
        self._before = dict(seen())
        self.grown: list[dict[str, int]] = []

    async def until(self, is_over: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not is_over():
                await asyncio.sleep(0)
                now = dict(self._seen())
                self.grown.append({key: now[key] - self._before[key] for key in now})
                self._before = now

    def most(self, key: str) -> int:
        """From one call to the next, between which are parts of two turns."""
        return max(grown[key] for grown in self.grown)


@contextlib.contextmanager
def pairs() -> Iterator[list[tuple[socket.socket, socket.socket]]]:
    made = [socket.socketpair() for _ in range(MANY)]
    try:
        for one in (one for pair in made for one in pair):
            one.setblocking(False)
        yield made
    finally:
        for one in (one for pair in made for one in pair):
            one.close()


def server_context(directory: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = write_pair(directory, "x")
    context.load_cert_chain(files.certificate, files.key)
    return context


def calling(sockets: list[tuple[socket.socket, socket.socket]]) -> list[ssl.SSLSocket]:
    """The other ends, which have all said hello."""
    context = trusting()
    callers = []
    for _, theirs in sockets:
        callers.append(context.wrap_socket(theirs, do_handshake_on_connect=False))
        with contextlib.suppress(ssl.SSLWantReadError):
            callers[-1].do_handshake()
    return callers


@contextlib.asynccontextmanager
async def connected(
    directory: Path,
) -> AsyncIterator[tuple[list[ssl.SSLSocket], dict[str, int]]]:
    """Callers, and what their connections have seen so far."""
    noted = dict.fromkeys(("made", "bytes", "received", "ends", "lost"), 0)
    context = server_context(directory)
    steps, ends = LoopTurns(MOST), LoopTurns(MOST)
    readable = ReadableSockets(MOST)
    with pairs() as sockets:
        callers = calling(sockets)

        async def accept(ours: socket.socket) -> None:
            secured = await shaken_hands(
                ours, context, lambda _: None, turns=steps, buffered=Listener.few_callers
            )
            TlsTransport(secured, Seen(noted), readable=readable, ends=ends, ending_s=PATIENCE_S)

        async with asyncio.TaskGroup() as tasks, asyncio.timeout(PATIENCE_S):
            for ours, _ in sockets:
                tasks.create_task(accept(ours))
            left = set(callers)
            while left:
                await asyncio.sleep(0)
                for caller in tuple(left):
                    with contextlib.suppress(ssl.SSLWantReadError):
                        caller.do_handshake()
                        left.remove(caller)
        try:
            yield callers, noted
        finally:
            for caller in callers:
                caller.close()
            await Turns(lambda: noted).until(lambda: noted["lost"] == MANY)


async def test_connections_that_end_at_the_same_moment(tmp_path: Path) -> None:
    async with connected(tmp_path) as (callers, noted):
        turns = Turns(lambda: noted)
        for caller in callers:
            caller.close()
        await turns.until(lambda: noted["lost"] == MANY)
        assert turns.most("ends") <= 2 * MOST
        assert turns.most("lost") <= 2 * MOST


async def test_callers_who_send_at_the_same_moment(tmp_path: Path) -> None:
    said = b"x" * 20_000
    async with connected(tmp_path) as (callers, noted):
        turns = Turns(lambda: noted)
        for caller in callers:
            assert caller.send(said) == len(said)
        await turns.until(lambda: noted["bytes"] == MANY * len(said))
        # Two records each; of what OpenSSL has opened already the rest is handed on in the turn after.
        assert turns.most("received") <= 4 * MOST


async def test_handshakes_that_begin_at_the_same_moment(tmp_path: Path) -> None:
    context = server_context(tmp_path)
    steps, answered = LoopTurns(MOST), dict.fromkeys(("callers",), 0)
    with pairs() as sockets:
        callers = calling(sockets)
        left = {theirs.fileno() for theirs in callers}

        def seen() -> dict[str, int]:
            for caller in callers:
                if caller.fileno() in left:
                    with contextlib.suppress(BlockingIOError):
                        # Not through TLS, which would go on with the handshake.
                        assert socket.socket.recv(caller, 1, socket.MSG_PEEK)
                        left.remove(caller.fileno())
                        answered["callers"] += 1
            return answered

        async with asyncio.TaskGroup() as tasks:
            under_way = [
                tasks.create_task(
                    shaken_hands(
                        ours,
                        context,
                        lambda _: None,
                        turns=steps,
                        buffered=Listener.few_callers,
                    )
                )
                for ours, _ in sockets
            ]
            turns = Turns(seen)
            await turns.until(lambda: answered["callers"] == MANY)
            for one in under_way:
                one.cancel()
        assert turns.most("callers") <= 2 * MOST
        for caller in callers:
            caller.close()


async def test_a_listener_goes_on_between_ends(tmp_path: Path) -> None:
    many = 3 * ENDS_A_TURN
    limits = dataclasses.replace(LIMITS, connections=many)
    context = trusting()
    async with listening(Listener(limits=limits, tls=write_pair(tmp_path, "x"))) as listener:
        callers = [await listener.call(GET, tls=context) for _ in range(many)]
        for reader, _ in callers:
            assert await reader.readexactly(4) == b"HTTP"
        turns = Turns(lambda: {"ended": many - listener.server.connections})
        for _, writer in callers:
            writer.transport.abort()
        await turns.until(lambda: listener.server.connections == 0)
        assert turns.most("ended") <= 2 * ENDS_A_TURN


async def test_a_listener_that_stops_goes_on_between_the_ends_of_who_rests(tmp_path: Path) -> None:
    many = 3 * ENDS_A_TURN
    listener = Listener(
        limits=dataclasses.replace(LIMITS, connections=many), tls=write_pair(tmp_path, "x")
    )
    context = trusting()
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        callers = [await listener.call(GET, tls=context) for _ in range(many)]
        for reader, _ in callers:
            assert await reader.readexactly(4) == b"HTTP"
        ended = {"said": 0}
        turns = Turns(lambda: ended)
        for reader, _ in callers:
            tasks.create_task(_count_end(reader, ended))
        running.cancel()
        await turns.until(lambda: ended["said"] == many)
        assert turns.most("said") <= 2 * ENDS_A_TURN
    for _, writer in callers:
        writer.close()


async def _count_end(reader: asyncio.StreamReader, ended: dict[str, int]) -> None:
    await everything(reader)
    ended["said"] += 1
