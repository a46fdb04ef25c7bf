"""A whole brain in this process, on real sockets: the product's own wiring, without signals."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, UnixConnector
from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token
from nemutator_controller.app import brain
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.databases import begin_empty

PATIENCE = ClientTimeout(total=60)
READY_S = 240
"""On a machine with twenty busy processes a start took more than a minute."""


@dataclass
class StandingBrain:
    directory: DataDirectory
    local: ClientSession
    """Over the unix socket, with the link token."""
    stranger: ClientSession
    """Over the unix socket, without."""
    browser: ClientSession
    """To the console, without a cookie of its own."""

    async def link(self) -> str:
        async with self.local.post("/api/v1/console-links") as answer:
            assert answer.status == 200
            return str((await answer.json())["url"])

    async def metric(self, name: str) -> float:
        """The sum of a metric's series."""
        async with self.stranger.get("/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


@contextlib.asynccontextmanager
async def standing_brain(root: Path, **settings: Any) -> AsyncIterator[StandingBrain]:
    """Run it on a free port; it is stopped, and everything released, at the end."""
    directory = prepare(root)
    if not directory.link_token.exists():
        renew_link_token(directory)
    begin_empty(directory.database)
    stop = asyncio.Event()
    wished = BrainSettings(data_dir=root, console="127.0.0.1:0", **settings)
    token = read_link_token(directory).reveal()
    path = str(directory.socket(names.BRAIN))
    async with asyncio.TaskGroup() as group, contextlib.AsyncExitStack() as clients:
        group.create_task(brain.run(wished, stop))
        try:
            local, stranger = [
                await clients.enter_async_context(
                    ClientSession(
                        "http://localhost",
                        connector=UnixConnector(path),
                        headers=headers,
                        timeout=PATIENCE,
                    )
                )
                for headers in ({"Authorization": f"Bearer {token}"}, {})
            ]
            browser = await clients.enter_async_context(
                ClientSession(timeout=PATIENCE, cookie_jar=DummyCookieJar())
            )
            await _until_ready(stranger)
            yield StandingBrain(directory, local, stranger, browser)
        finally:
            stop.set()


async def _until_ready(client: ClientSession) -> None:
    async with asyncio.timeout(READY_S):
        while True:
            with contextlib.suppress(OSError):
                async with client.get("/readyz") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.01)
