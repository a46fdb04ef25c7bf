"""What an owner of a listener relies on with TLS: certificates that change, and callers who prove themselves."""

import asyncio
import contextlib
import dataclasses
import datetime
import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.errors import OperatorError
from nemutator_common.serving.buffered_tls import BufferedTls
from nemutator_common.serving.server import RELOAD_S, TlsFiles
from nemutator_common.serving.tls_transport import shaken_hands

from tests.fakes.clocks import ManualClock
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


@pytest.fixture(
    autouse=True, params=[(True, False), (False, False), (True, True)],
    ids=["plain", "parsed", "buffered"],
)  # fmt: skip
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """In place of the two of all other contracts."""
    Listener.answers_plainly, Listener.few_callers = request.param
    yield
    Listener.answers_plainly, Listener.few_callers = True, False


def write_pair(directory: Path, name: str) -> TlsFiles:
    """A fresh self-signed certificate for *name* over the pair in *directory*."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = TlsFiles(directory / "tls.crt", directory / "tls.key")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def name_of(writer: asyncio.StreamWriter) -> str:
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    subject = x509.load_der_x509_certificate(certificate).subject
    return str(subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


async def test_a_new_certificate_is_taken_over_while_a_connection_stays_open(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    files = write_pair(tmp_path, "old")
    async with listening(Listener(tls=files, clock=clock)) as listener:
        reader, writer = await listener.call(GET, tls=trusting())
        async with closing(writer):
            assert (name_of(writer), (await one_answer(reader))[0]) == ("old", 200)

            await clock.until_sleeping()
            files.key.write_text("half of a pair")
            await clock.advance(RELOAD_S)
            assert reloads(listener) == {"taken": 0, "refused": 1}
            assert await name_for_a_newcomer(listener) == "old"

            write_pair(tmp_path, "new")
            await clock.advance(RELOAD_S)
            await clock.advance(RELOAD_S)
            assert reloads(listener) == {"taken": 1, "refused": 1}
            assert await name_for_a_newcomer(listener) == "new"

            writer.write(GET)
            assert (await one_answer(reader))[0] == 200


async def name_for_a_newcomer(listener: Listener) -> str:
    _, writer = await listener.call(tls=trusting())
    async with closing(writer):
        return name_of(writer)


def reloads(listener: Listener) -> dict[str, float]:
    return {
        result: listener.meter.total(names.TLS_RELOADS, result=result)
        for result in ("taken", "refused")
    }


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


async def sooner_or_later(listener: Listener) -> str:
    """Like `name_for_a_newcomer`, where a busy machine may miss the deadline for handshakes."""
    while True:
        with contextlib.suppress(OSError):
            return await name_for_a_newcomer(listener)


async def test_with_a_client_ca_only_its_callers_are_let_in(tmp_path: Path) -> None:
    for part in ("server", "ours", "stranger"):
        (tmp_path / part).mkdir()
    ours, stranger = (write_pair(tmp_path / part, part) for part in ("ours", "stranger"))
    files = dataclasses.replace(write_pair(tmp_path / "server", "x"), client_ca=ours.certificate)
    async with listening(Listener(tls=files)) as listener:
        for refused, pair in enumerate((None, stranger), 1):
            assert await answer_to(listener, pair) == b""
            await listener.until(lambda: listener.dropped("handshake") == refused)  # noqa: B023
        assert (await answer_to(listener, ours)).startswith(b"HTTP/1.1 200 ")
        assert listener.meter.total(names.HTTP_REQUESTS) == 1


async def answer_to(listener: Listener, pair: TlsFiles | None) -> bytes:
    """With TLS 1.3 a caller learns of the refusal only when it reads."""
    context = trusting()
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    try:
        reader, writer = await listener.call(
            GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), tls=context
        )
    except OSError:
        return b""
    async with closing(writer):
        with contextlib.suppress(OSError):
            return await everything(reader)
    return b""


async def test_files_that_are_no_pair_are_refused_at_the_start(tmp_path: Path) -> None:
    files = write_pair(tmp_path, "x")
    files.key.write_text("nothing")
    with pytest.raises(OperatorError, match=r"tls\.key"):
        await Listener(tls=files).server.bind()


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


LARGE = 32 << 20
"""Bytes of the answer of `/large`."""


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_caller_who_reads_slowly_gets_all_of_a_large_answer(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    context = trusting()
    context.maximum_version = version
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", tls=context)
        async with closing(writer):
            # Nobody reads it yet, so that it cannot be sent on. Others are served.
            assert (await answer_to(listener, None)).startswith(b"HTTP/1.1 200 ")
            status, body = await one_answer(reader)
            assert (status, len(body)) == (200, LARGE)
            writer.write(GET)
            assert (await one_answer(reader))[0] == 200


async def test_a_caller_who_leaves_a_large_answer_unread_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(
            b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", tls=trusting()
        )
        assert await reader.read(1)
        writer.transport.abort()
        await listener.quiet()


@pytest.mark.parametrize("size", [1, 16 << 10, (16 << 10) + 1, 600 << 10])
async def test_a_body_of_any_size_comes_whole(tmp_path: Path, size: int) -> None:
    limits = dataclasses.replace(LIMITS, body_bytes=1 << 20)
    body = b"later" + bytes(range(32, 127)) * (size // 95) + b"x" * (size % 95)
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with listening(Listener(limits=limits, tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(tls=trusting())
        async with closing(writer):
            for _ in range(2):
                writer.write(head + body)
                assert await one_answer(reader) == (200, b"POST " + body)


async def test_the_last_answer_says_its_end(tmp_path: Path) -> None:
    """Without it a caller cannot tell an end from a cut, and takes what it has for too little."""
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        closing_get = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

        def ask() -> tuple[bytes, bytes]:
            assert isinstance(listener.server.address, TcpAddress)
            place = listener.server.address.host, listener.server.address.port
            with (
                socket.create_connection(place, timeout=PATIENCE_S) as plain,
                trusting().wrap_socket(plain, suppress_ragged_eofs=False) as secured,
            ):
                secured.sendall(closing_get)
                received = b""
                while piece := secured.recv(1 << 16):
                    received += piece
                return received, secured.recv(1)

        answer, end = await asyncio.to_thread(ask)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert end == b""
        await listener.quiet()


async def test_a_caller_who_never_hangs_up_is_left_after_a_while(tmp_path: Path) -> None:
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        assert isinstance(listener.server.address, TcpAddress)
        place = listener.server.address.host, listener.server.address.port
        plain = await asyncio.to_thread(socket.create_connection, place, PATIENCE_S)
        with plain, await asyncio.to_thread(trusting().wrap_socket, plain) as secured:
            closing_get = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            await asyncio.to_thread(secured.sendall, closing_get)
            await listener.until(lambda: listener.meter.total(names.HTTP_REQUESTS) == 1)
            await listener.quiet()


async def test_an_answer_does_not_wait_until_the_one_before_is_acknowledged(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = write_pair(tmp_path, "x")
    context.load_cert_chain(files.certificate, files.key)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), PATIENCE_S) as plain,
    ):
        accepted, _ = server.accept()
        accepted.setblocking(False)
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(asyncio.to_thread(trusting().wrap_socket, plain))
            secured = await shaken_hands(accepted, context, lambda _: None)
        assert isinstance(secured, ssl.SSLSocket)
        with secured, calling.result():
            assert secured.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@contextlib.asynccontextmanager
async def met(directory: Path) -> AsyncIterator[tuple[BufferedTls, ssl.SSLSocket]]:
    """Our side and a caller's, who have shaken hands."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = write_pair(directory, "x")
    context.load_cert_chain(files.certificate, files.key)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(asyncio.to_thread(trusting().wrap_socket, theirs))
            secured = await shaken_hands(ours, context, lambda _: None, buffered=True)
        assert isinstance(secured, BufferedTls)
        with calling.result() as caller:
            yield secured, caller


async def test_what_has_come_is_received_at_once_and_then_the_end(tmp_path: Path) -> None:
    async with met(tmp_path) as (secured, caller):
        caller.sendall(b"a head")
        caller.sendall(b" and a body")
        assert secured.recv() == b"a head and a body"
        assert not secured.pending()
        with pytest.raises(ssl.SSLWantReadError):
            secured.recv()
        caller.sendall(b"the last")
        with contextlib.suppress(OSError):
            # It waits for ours, which does not come.
            caller.settimeout(0)
            caller.unwrap()
        assert secured.recv() == b"the last"
        assert secured.pending()
        assert secured.recv() == b""


async def test_what_is_no_record_is_an_error_behind_what_was_one(tmp_path: Path) -> None:
    async with met(tmp_path) as (secured, caller):
        caller.sendall(b"sound")
        os.write(caller.fileno(), b"GET / HTTP/1.1\r\n\r\n")
        assert secured.recv() == b"sound"
        assert secured.pending()
        with pytest.raises(ssl.SSLError):
            secured.recv()
