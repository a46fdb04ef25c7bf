"""What a listener learns of a caller at the door, and sockets that come and go."""

import asyncio
import fcntl
import os
import socket
import stat
from pathlib import Path

import pytest
from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.serving.connection import accepted_peer_of
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.sockets import ListeningSocket
from nemutator_common.serving.traffic import Traffic
from nemutator_common.system_clock import SystemClock

from tests.fakes.listeners import PATIENCE_S, closing, one_answer
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

ASK = b"GET /who HTTP/1.1\r\nHost: x\r\n\r\n"


class Numbered:
    """A guest that knows it was let go."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.closed = asyncio.Event()

    @property
    def shown(self) -> str:
        return f"guest {self.number}"

    def close(self) -> None:
        self.closed.set()


class Door:
    def __init__(self) -> None:
        self.guests: list[Numbered] = []

    def accept_peer(self, accepted: socket.socket) -> Numbered:
        assert accepted.family == socket.AF_UNIX
        self.guests.append(Numbered(len(self.guests)))
        return self.guests[-1]

    def server(self, path: Path, meter: MemoryMeter, traffic: Traffic | None = None) -> HttpServer:
        address = UnixAddress(path)
        return HttpServer(
            process=fake_process(clock=SystemClock(), meter=meter),
            name="pods",
            address=address,
            routes=[web.get("/who", who)],
            limits=Limits(drain_s=PATIENCE_S),
            listening=ListeningSocket(address, mode=0o666, alone=True),
            traffic=traffic,
            accept_peer=self.accept_peer,
        )


async def who(request: web.Request) -> web.Response:
    guest = accepted_peer_of(request)
    assert isinstance(guest, Numbered)
    return web.Response(text=str(guest.number))


async def test_a_handler_sees_its_own_guest_for_as_long_as_the_connection_lasts(
    tmp_path: Path,
) -> None:
    door, path = Door(), tmp_path / "s.sock"
    server = door.server(path, MemoryMeter())
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.run())
        first, first_writer = await asyncio.open_unix_connection(path)
        second, second_writer = await asyncio.open_unix_connection(path)
        async with closing(first_writer), closing(second_writer):
            for _ in range(2):
                first_writer.write(ASK)
                assert await one_answer(first) == (200, b"0")
            second_writer.write(ASK)
            assert await one_answer(second) == (200, b"1")
            assert not any(guest.closed.is_set() for guest in door.guests)
        for guest in door.guests:
            await guest.closed.wait()
        running.cancel()


async def test_listeners_of_one_name_are_counted_together(tmp_path: Path) -> None:
    meter = MemoryMeter()
    door, traffic = Door(), Traffic("pods", meter)
    servers = [door.server(tmp_path / f"{n}.sock", meter, traffic) for n in range(2)]
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(server.run()) for server in servers]
        for n in range(2):
            reader, writer = await asyncio.open_unix_connection(tmp_path / f"{n}.sock")
            writer.write(ASK)
            await one_answer(reader)
            assert meter.value(names.HTTP_CONNECTIONS, listener="pods") == 1
            writer.close()
            await door.guests[-1].closed.wait()
        for task in running:
            task.cancel()
    assert meter.value(names.HTTP_CONNECTIONS, listener="pods") == 0


@pytest.mark.parametrize("before", ["nothing", "socket", "file", "symlink"])
def test_a_socket_in_a_strangers_directory_is_ours_whatever_was_there(
    tmp_path: Path, before: str
) -> None:
    path = tmp_path / "s.sock"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    with socket.socket(socket.AF_UNIX) as strange:
        match before:
            case "socket":
                strange.bind(os.fspath(path))
                strange.listen()
            case "file":
                path.write_text("x")
            case "symlink":
                path.symlink_to(elsewhere)
        fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        # The stranger holds the directory's lock, too.
        fcntl.flock(fd, fcntl.LOCK_EX)
        address = UnixAddress(Path(f"/proc/self/fd/{fd}/s.sock"))
        ours = ListeningSocket(address, mode=0o666, alone=True)
        try:
            assert stat.S_IMODE(path.lstat().st_mode) == 0o666
            with socket.socket(socket.AF_UNIX) as caller:
                caller.connect(os.fspath(path))
        finally:
            ours.close()
            os.close(fd)
    assert not path.exists()
    assert elsewhere.read_text() == "precious"
