"""Keeps the files in a pod's volume as Vault has its secrets, from when the pod first asks for them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.files.folder_states import FolderState, contents_of
from nemutator_agent.credentials.files.room import FileRoom
from nemutator_agent.credentials.http_refusals import (
    HttpRefusal,
    files_not_written,
    files_too_large,
    no_room,
)
from nemutator_agent.credentials.ports import PodCallerHandler, ProjectedFolder

log = logging.getLogger(__name__)

LARGEST_TOGETHER = 256 << 10
"""A pod's volume has room for twice this, because old files stay until the new ones are complete."""

BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(eq=False, slots=True)
class FileFollower:
    """Nothing is read for a pod that has no files: `nemutator-init` asks for the first ones, and a new life
    of this process finds them."""

    handler: PodCallerHandler
    folder: ProjectedFolder
    process: Process
    room: FileRoom
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def write(self, read: Callable[[], Awaitable[Mapping[str, Secret]]]) -> Sequence[str]:
        """Bring all files to what is *read*, the first ones, too; their names. Raises an `HttpRefusal`, and
        then nothing has changed."""
        async with self._turn:
            try:
                values = await read()
                self._replace(values)
            except HttpRefusal as refusal:
                self._count(refusal.step)
                raise
            return tuple(values)

    def _replace(self, values: Mapping[str, Secret]) -> None:
        size = sum(map(len, contents_of(values).values()))
        if size > LARGEST_TOGETHER:
            raise files_too_large(LARGEST_TOGETHER)
        before = self.folder.state(values)
        if not self.room.take(self, size, there=before is FolderState.CURRENT):
            raise no_room(self.room.most)
        self._measure()
        if before is FolderState.PRIVATE:
            self._count("mode")
            _warn("mode", "they are for one user")
        elif before is not FolderState.CURRENT:
            try:
                is_owned = self.folder.write(values)
            except OSError as error:
                raise files_not_written(error.strerror or "") from error
            self._count("written")
            if not is_owned:
                self._count("owner")
                _warn(
                    "owner",
                    "they are not of the pod's user alone; remedy: let credentials have CHOWN",
                )
        if before is FolderState.OUTDATED:
            self.handler.after_rotation.due()

    async def run(self) -> None:
        changes = self.handler.changes
        try:
            while True:
                seen = changes.log.newest
                if self.folder.state({}) is FolderState.EMPTY or await self._follow():
                    # Also where an earlier run has written the files, and was killed then.
                    self.handler.after_rotation.due_if_changed()
                while changes.log.newest <= seen:
                    await changes.beyond(seen)
        finally:
            self.room.leave(self)
            self._measure()

    async def _follow(self) -> bool:
        """Whether all files have come to what they should be."""
        failures = 0
        while True:
            try:
                await self.write(self.handler.file_values)
                return True
            except HttpRefusal as refusal:
                _warn(refusal.step, refusal.error)
                if refusal.step == "size":
                    return False
            failures += 1
            await self.process.clock.sleep(
                BACKOFF.delay_s(failures, roll=self.process.dice.random())
            )

    def _count(self, result: str) -> None:
        self.process.meter.count(names.FILES_WRITTEN, result=result)

    def _measure(self) -> None:
        self.process.meter.gauge(names.FILES_BYTES, self.room.used)


def _warn(reason: str, why: str) -> None:
    log.warning("files_not_written", {names.REASON: reason, names.ERROR: why})
