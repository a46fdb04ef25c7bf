"""OpenSSL in memory, between two sockets."""

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_common.serving.buffered_tls import BufferedTls
from nemutator_common.serving.loop_sharing import LoopTurns
from nemutator_common.serving.tls_transport import shaken_hands

from tests.contract.serving.tls.pairs import trusting, write_pair


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
            secured = await shaken_hands(
                ours, context, lambda _: None, turns=LoopTurns(9), buffered=True
            )
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
