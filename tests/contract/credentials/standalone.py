"""`nemutator-agent credentials` on a machine without Vault: running, and how the tests reach it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from nemutator_agent.app.credentials import run
from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token

from tests.fakes.pod_sockets import PATIENCE_S, call
from tests.testbed.running.waiting import until

STORE = "/v1/store/secrets"


class Machine:
    def __init__(self, folder: Path, **settings: Any) -> None:
        self.settings = settings
        """Of `credentials`, besides those of every machine."""
        self.directory = prepare(folder)
        renew_link_token(self.directory)
        self.agent = folder / "agent.sock"
        self.private = folder / "credentials.sock"

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {read_link_token(self.directory).reveal()}"}

    async def set(self, name: str, value: str, *rules: str) -> tuple[int, object]:
        return await self._put(name, {"value": value, "rules": list(rules)})

    async def set_in_vault(self, name: str, where: str, *rules: str) -> tuple[int, object]:
        return await self._put(name, {"vault": where, "rules": list(rules)})

    async def _put(self, name: str, given: dict[str, object]) -> tuple[int, object]:
        path = f"{STORE}/{name}"
        return await call(self.private, path, method="PUT", json=given, **self.token)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Machine"]:
        stop = asyncio.Event()
        settings = CredentialsSettings(data_dir=self.directory.root, node="n1", **self.settings)
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(run(settings, stop))
            await asyncio.to_thread(
                until,
                lambda: self.private.exists() or running.done(),
                "it listens",
                within_s=PATIENCE_S,
            )
            try:
                yield self
            finally:
                stop.set()
