"""The one socket of a machine, when some of its users take all they can get."""

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.app.credentials import run
from nemutator_agent.app.credentials_machine import SHARED_LIMITS
from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_common.data_directory_files import prepare, renew_link_token

from tests.fakes.listeners import closing, everything, one_answer
from tests.fakes.pod_sockets import PATIENCE_S, call
from tests.testbed.running.waiting import until

NOBODY = 65534
ASK = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user may enter; a test's own is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder) / "agent.sock"


def connected(path: Path, uid: int) -> socket.socket:
    """A connection of another user: the kernel notes who connects."""
    made = socket.socket(socket.AF_UNIX)
    own = os.geteuid()
    os.seteuid(uid)
    try:
        made.connect(os.fspath(path))
    finally:
        os.seteuid(own)
    made.setblocking(False)
    return made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")
async def test_a_user_who_takes_all_connections_takes_none_of_others(
    tmp_path: Path, public: Path
) -> None:
    directory = prepare(tmp_path / "data")
    renew_link_token(directory)
    settings = CredentialsSettings(data_dir=directory.root, node="n1", agent_socket=str(public))
    stop = asyncio.Event()
    share = SHARED_LIMITS.connections_each
    assert share is not None
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run(settings, stop))
        await asyncio.to_thread(
            until, lambda: public.exists() or running.done(), "it listens", within_s=PATIENCE_S
        )
        async with contextlib.AsyncExitStack() as opened:
            greedy = []
            for _ in range(share + 8):
                reader, writer = await asyncio.open_unix_connection(sock=connected(public, NOBODY))
                await opened.enter_async_context(closing(writer))
                writer.write(ASK)
                # Each is answered: an idle one of the same user gives way.
                assert (await one_answer(reader))[0] == 200
                greedy.append(reader)
            for reader in greedy[:8]:
                assert await everything(reader) == b""
            assert not any(reader.at_eof() for reader in greedy[8:])
            status, document = await call(public, "/v1/whoami")
            assert (status, document["uid"]) == (200, 0)
        stop.set()
