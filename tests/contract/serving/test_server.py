"""What an owner of a listener relies on: addresses, answers, and an orderly end."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import TcpAddress, UnixAddress, parse_address
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.serving.sockets import ListeningSocket

from tests.fakes.listeners import (
    GET,
    HASTE_S,
    LIMITS,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)


def request(path: str, *, method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n".encode()


async def answer(
    listener: Listener, path: str, *, method: str = "GET", more: str = ""
) -> tuple[int, bytes, bytes]:
    head, _, body = (await listener.ask(request(path, method=method, more=more))).partition(
        b"\r\n\r\n"
    )
    return int(head.split(b" ")[1]), head, body


# --- answers ------------------------------------------------------------------------------------
async def test_operations_are_answered_before_anybody_authenticates() -> None:
    @web.middleware
    async def nobody_enters(request: web.Request, handler: object) -> web.StreamResponse:
        raise web.HTTPUnauthorized

    async with listening(Listener(middlewares=[nobody_enters])) as listener:
        assert (await answer(listener, "/echo"))[0] == 401
        assert (await answer(listener, "/healthz"))[::2] == (200, b"ok\n")
        assert (await answer(listener, "/readyz"))[::2] == (200, b"ready\n")
        assert (await answer(listener, "/metrics"))[0] == 200
        assert (await answer(listener, "/metrics", method="POST"))[0] == 405


async def test_readiness_says_why_not() -> None:
    async with listening(Listener()) as listener:
        listener.readiness.fail("uplink", "no answer yet")
        assert (await answer(listener, "/readyz"))[::2] == (503, b"uplink: no answer yet\n")
        status, _, body = await answer(listener, "/readyz", more="Accept: application/json\r\n")
        assert status == 503
        assert json.loads(body) == {
            "ready": False,
            "problems": {"uplink": "no answer yet"},
            "notes": {},
        }


async def test_a_note_is_shown_and_leaves_the_process_ready() -> None:
    async with listening(Listener()) as listener:
        listener.readiness.note("webhook", "anybody may call")
        shown = b"ready\nnote: webhook: anybody may call\n"
        assert (await answer(listener, "/readyz"))[::2] == (200, shown)
        status, _, body = await answer(listener, "/readyz", more="Accept: application/json\r\n")
        assert (status, json.loads(body)["notes"]) == (200, {"webhook": "anybody may call"})


async def test_errors_are_json_without_details() -> None:
    async with listening(Listener()) as listener:
        status, _, body = await answer(listener, "/nowhere")
        assert (status, json.loads(body)) == (404, {"error": "not found"})
        status, head, body = await answer(listener, "/echo", method="DELETE")
        assert (status, json.loads(body)) == (405, {"error": "method not allowed"})
        assert b"Allow: " in head
        for code, expected in (("DATABASE", 503), ("NO_SPACE", 507), ("USAGE", 400)):
            status, _, body = await answer(listener, f"/operator/{code}")
            assert status == expected
            assert json.loads(body) == {"error": "the disk is full", "remedy": "make room"}


async def test_a_defect_is_logged_once_and_told_by_its_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with listening(Listener()) as listener:
        status, _, body = await answer(listener, "/defect")
    told = json.loads(body)
    assert status == 500
    assert told["error"] == "internal error"
    assert set(told) == {"error", "request"}
    (record,) = [record for record in caplog.records if record.exc_info]
    assert record.message == "request_failed"


async def test_an_answer_that_cannot_be_sent_is_a_defect_and_no_bad_request() -> None:
    async with listening(Listener()) as listener:
        status, _, body = await answer(listener, "/unsendable")
        assert (status, json.loads(body)["error"]) == (500, "internal error")
        assert listener.dropped("bad_request") == 0
        assert listener.meter.total(names.HTTP_REQUESTS, status="500") == 1


async def test_an_answer_that_breaks_halfway_is_not_completed() -> None:
    async with listening(Listener()) as listener:
        received = await listener.ask(GET.replace(b"/echo", b"/half"))
        assert not received.endswith(b"0\r\n\r\n")
        assert listener.dropped("broken_answer") == 1


async def test_the_log_has_the_path_and_never_the_query(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with listening(Listener()) as listener:
        await answer(listener, "/echo?key=one-time")
    assert "one-time" not in "".join(str((r.msg, r.args)) for r in caplog.records)


# --- addresses ----------------------------------------------------------------------------------
async def test_a_unix_socket_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    async with listening(Listener(UnixAddress(path))) as listener:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert (await answer(listener, "/healthz"))[0] == 200
    assert not path.exists()


async def test_a_stale_socket_is_replaced_and_a_live_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(os.fspath(path))
    async with listening(Listener(UnixAddress(path))) as listener:
        with pytest.raises(OperatorError, match="in use") as raised:
            await Listener(UnixAddress(path)).server.bind()
        assert raised.value.code is ExitCode.ADDRESS_IN_USE
        assert (await answer(listener, "/healthz"))[0] == 200


async def test_a_socket_that_took_our_place_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    async with listening(Listener(UnixAddress(path))):
        path.rename(tmp_path / "moved")
        path.write_text("somebody else's")
    assert path.exists()


@pytest.mark.parametrize(
    ("name", "what"),
    [("a" * 120, "107 are possible"), ("missing/s.sock", "No such file"), ("file", "not a socket")],
)
async def test_an_impossible_path_is_refused_with_a_remedy(
    tmp_path: Path, name: str, what: str
) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(OperatorError, match=what) as raised:
        await Listener(UnixAddress(tmp_path / name)).server.bind()
    assert raised.value.remedy
    assert (tmp_path / "file").read_text() == "precious"


async def test_a_taken_port_and_a_strange_address_are_refused_with_a_remedy() -> None:
    async with listening(Listener()) as listener:
        with pytest.raises(OperatorError, match=str(listener.server.address)) as raised:
            await Listener(listener.server.address).server.bind()
        assert "stop the process" in raised.value.remedy
    with pytest.raises(OperatorError, match=r"192\.0\.2\.1") as raised:
        await Listener(parse_address("192.0.2.1:0")).server.bind()
    assert "ip address" in raised.value.remedy


async def test_any_free_port_is_told() -> None:
    async with listening(Listener()) as listener:
        assert isinstance(listener.server.address, TcpAddress)
        assert listener.server.address.port > 0


def test_what_the_kernel_keeps_of_a_connection_is_bounded() -> None:
    ours = ListeningSocket(TcpAddress("127.0.0.1", 0), mode=0o600, receive_bytes=8 << 10)
    with contextlib.closing(ours), socket.create_connection(ours.socket.getsockname()):
        accepted, _ = ours.socket.accept()
        with accepted:
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 16 << 10


async def test_ipv6_is_listened_on_too() -> None:
    try:
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    probe.close()
    async with listening(Listener(parse_address("[::1]:0"))) as listener:
        assert str(listener.server.address).startswith("[::1]:")
        assert (await answer(listener, "/healthz"))[0] == 200


def test_neighbours_in_one_directory_do_not_refuse_each_other(tmp_path: Path) -> None:
    def bind_and_close(number: int) -> None:
        for _ in range(20):
            address = UnixAddress(tmp_path / f"{number}.sock")
            ListeningSocket(address, mode=0o600).close()

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(bind_and_close, number) for number in range(4)]:
            done.result()


# --- the end ------------------------------------------------------------------------------------
async def test_a_request_under_way_is_finished_and_idle_callers_are_sent_away() -> None:
    listener = Listener()
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        idle, idle_writer = await listener.call(GET)
        assert (await one_answer(idle))[0] == 200
        busy, busy_writer = await listener.call(GET.replace(b"/echo", b"/slow"))
        await listener.entered.wait()
        running.cancel()
        async with closing(idle_writer), closing(busy_writer):
            assert await everything(idle) == b""
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await listener.call()
            listener.release.set()
            received = await everything(busy)
    assert received.endswith(b"at last")
    assert b"Connection: close" in received
    assert listener.dropped("drained") == 1


async def test_a_caller_who_sends_as_the_listener_stops_is_answered_and_told_to_leave() -> None:
    listener = Listener(limits=dataclasses.replace(LIMITS, linger_s=PATIENCE_S))
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(GET)
        assert (await one_answer(reader))[0] == 200
        running.cancel()
        async with closing(writer):
            await asyncio.sleep(0)
            # Who has not heard that it stops connects still.
            late, late_writer = await listener.call(GET)
            async with closing(late_writer):
                told = await everything(late)
            assert not running.done()
            writer.write(GET)
            received = await everything(reader)
    for one in (told, received):
        assert one.startswith(b"HTTP/1.1 200 ")
        assert b"Connection: close" in one
    assert listener.meter.total(names.HTTP_CONNECTIONS_DROPPED) == 0


async def test_who_has_connected_as_the_listener_stops_is_answered() -> None:
    listener = Listener(limits=dataclasses.replace(LIMITS, linger_s=HASTE_S, drain_s=PATIENCE_S))
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call()
        running.cancel()
        async with closing(writer):
            await until_refused(listener)
            writer.write(GET)
            assert b"Connection: close" in await everything(reader)


class Elsewhere(asyncio.Protocol):
    """Has the processor, from its first byte on, for longer than the listener waits for callers."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def data_received(self, data: bytes) -> None:
        self._meanwhile()
        over = time.monotonic() + 2 * HASTE_S
        while time.monotonic() < over:
            pass


async def test_a_request_that_has_arrived_before_the_listener_looks_again_is_answered() -> None:
    listener = Listener(limits=dataclasses.replace(LIMITS, linger_s=HASTE_S))
    await listener.server.bind()
    address, loop = listener.server.address, asyncio.get_running_loop()
    assert isinstance(address, TcpAddress)
    one, other = socket.socketpair()
    with one, other, socket.socket() as caller:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(listener.server.run())
            caller.setblocking(False)
            await loop.sock_connect(caller, (address.host, address.port))
            await loop.sock_sendall(caller, GET)
            assert await loop.sock_recv(caller, 4096)
            elsewhere, _ = await loop.create_connection(
                lambda: Elsewhere(lambda: caller.send(GET)), sock=one
            )
            running.cancel()
            await asyncio.sleep(0)
            other.send(b"x")
            assert (await loop.sock_recv(caller, 4096)).startswith(b"HTTP/1.1 200 ")
            elsewhere.close()


async def until_refused(listener: Listener) -> None:
    """Until it stops: who connects before that is one more caller, and leaves."""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(OSError):
            while True:
                async with closing((await listener.call())[1]):
                    await asyncio.sleep(0)


async def test_a_caller_who_sends_nothing_holds_the_end_no_longer_than_that() -> None:
    listener = Listener(limits=dataclasses.replace(LIMITS, linger_s=HASTE_S))
    async with listening(listener):
        reader, writer = await listener.call(GET)
        assert (await one_answer(reader))[0] == 200
    async with closing(writer):
        assert await everything(reader) == b""
    assert listener.dropped("drained") == 1


async def test_a_request_that_takes_too_long_does_not_hold_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    limits = dataclasses.replace(LIMITS, drain_s=HASTE_S)
    async with listening(Listener(limits=limits)) as listener:
        _, writer = await listener.call(GET.replace(b"/echo", b"/slow"))
        await listener.entered.wait()
    async with closing(writer):
        assert listener.cancelled.is_set()
        assert listener.dropped("drain_deadline") == 1
    (line,) = [record.args for record in caplog.records if record.message == "http_request"]
    assert isinstance(line, dict)
    assert (line[names.STATUS], line[names.ERROR]) == (499, "drain_deadline")
