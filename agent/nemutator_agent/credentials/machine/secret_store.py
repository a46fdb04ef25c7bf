"""All secrets of a machine without Vault: in memory, on its disk, and in the files that follow them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.declarations import Reference
from nemutator_common.errors import OperatorError
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.machine.stored_secrets import StoredSecret, changed, file_owner
from nemutator_agent.credentials.ports import FileFolder
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_agent.identity.rules import CallerRule

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class SecretStore:
    secrets: Mapping[str, StoredSecret]
    save: Callable[[Mapping[str, StoredSecret]], Awaitable[None]]
    """Saves all of them or none, or raises an `OperatorError`."""
    files: FileFolder
    process: Process
    changes: ChangeFeed = field(init=False)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.changes = ChangeFeed(self.process.clock)

    async def set(
        self,
        name: str,
        value: Secret | Reference,
        *,
        rules: tuple[CallerRule, ...],
        owner: int,
        in_file: bool | None = None,
    ) -> StoredSecret:
        """Store a new version; `StoredSecretError` or `OperatorError` when nothing was changed, or when
        the message says that the file alone was not."""
        async with self._one_at_a_time:
            wanted = changed(
                self.secrets,
                name,
                value,
                rules=rules,
                owner=owner,
                in_file=in_file,
                at=self.process.clock.now(),
            )
            await self.save(wanted)
            had_file = name in self.secrets and self.secrets[name].in_file
            self.secrets = wanted
            stored = wanted[name]
            try:
                await self._follow(name, stored if stored.in_file else None, had_file=had_file)
            finally:
                # After the file, which those who hear of it may read.
                self.changes.announce(name, stored.version)
        return stored

    async def delete(self, name: str) -> StoredSecret | None:
        """The version that is deleted; None when there is no such secret."""
        async with self._one_at_a_time:
            wanted = dict(self.secrets)
            deleted = wanted.pop(name, None)
            if deleted is not None:
                await self.save(wanted)
                self.secrets = wanted
                await self._follow(name, None, had_file=deleted.in_file)
        return deleted

    async def write_files(self) -> None:
        """Let all files be as the secrets are, after a start. One that cannot be is logged, and the
        callers of the socket are served without it."""
        for name, stored in self.secrets.items():
            if stored.in_file:
                try:
                    await self._follow(name, stored, had_file=True)
                except OperatorError as error:
                    log.error("file_not_written", {names.SECRET_NAME: name, names.ERROR: error})

    async def _follow(self, name: str, stored: StoredSecret | None, *, had_file: bool) -> None:
        try:
            if stored is not None and isinstance(stored.value, Secret):
                await self.files.write(name, stored.value, owner=file_owner(stored.rules))
            elif had_file:
                await self.files.remove(name)
        except OperatorError as error:
            raise OperatorError(
                f"the store has it, and its file is not right: {error.what}",
                remedy=error.remedy,
                code=error.code,
            ) from error
