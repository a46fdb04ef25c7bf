"""Lets the files in a pod's volume follow its secrets, once something has written them first."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_agent.credentials.files.folder_states import FolderState, contents_of
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.ports import PodCallerHandler, ProjectedFolder

log = logging.getLogger(__name__)

LARGEST_TOGETHER = 256 << 10
"""A pod's volume has room for twice this, because old files stay until the new ones are complete."""

BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(eq=False, slots=True)
class FileFollower:
    """Nothing is read for a pod that has no files: `nemutator-init` writes the first ones, and a new life
    of this process finds them."""

    handler: PodCallerHandler
    folder: ProjectedFolder
    process: Process

    async def run(self) -> None:
        changes = self.handler.changes
        while True:
            seen = changes.log.newest
            failures = 0
            while not await self._follow():
                failures += 1
                await self.process.clock.sleep(
                    BACKOFF.delay_s(failures, roll=self.process.dice.random())
                )
            while changes.log.newest <= seen:
                await changes.beyond(seen)

    async def _follow(self) -> bool:
        """Whether nothing is to be tried again."""
        if self.folder.state({}) is FolderState.EMPTY:
            return True
        try:
            values = await self.handler.file_values()
        except HttpRefusal as refusal:
            return self._failed(refusal.step)
        if sum(map(len, contents_of(values).values())) > LARGEST_TOGETHER:
            self._failed("size")
            return True
        match self.folder.state(values):
            case FolderState.OUTDATED:
                try:
                    self.folder.write(values)
                except OSError as error:
                    return self._failed("disk", error.strerror)
                self.process.meter.count(names.FILES_WRITTEN, result="written")
            case FolderState.PRIVATE:
                self._failed("mode")
        return True

    def _failed(self, reason: str, why: str | None = None) -> bool:
        self.process.meter.count(names.FILES_WRITTEN, result=reason)
        log.warning("files_not_written", {names.REASON: reason, names.ERROR: why or ""})
        return False
