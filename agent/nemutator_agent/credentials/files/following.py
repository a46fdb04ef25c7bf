"""Lets the files in a pod's volume follow its secrets, once something has written them first."""

import enum
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


class _Result(enum.Enum):
    ABSENT = "no files were written for the pod"
    WRITTEN = "they have new values"
    KEPT = "they stay as they are"
    FAILED = "it is to be tried again"


@dataclass(eq=False, slots=True)
class FileFollower:
    """Nothing is read for a pod that has no files: `nemutator-init` writes the first ones, and a new life
    of this process finds them."""

    handler: PodCallerHandler
    folder: ProjectedFolder
    process: Process

    async def run(self) -> None:
        changes = self.handler.changes
        begun = changes.log.newest
        while True:
            seen = changes.log.newest
            failures = 0
            while (result := await self._follow()) is _Result.FAILED:
                failures += 1
                await self.process.clock.sleep(
                    BACKOFF.delay_s(failures, roll=self.process.dice.random())
                )
            if result is _Result.WRITTEN or (result is _Result.ABSENT and seen > begun):
                self.handler.after_rotation.due()
            while changes.log.newest <= seen:
                await changes.beyond(seen)

    async def _follow(self) -> _Result:
        if self.folder.state({}) is FolderState.EMPTY:
            return _Result.ABSENT
        try:
            values = await self.handler.file_values()
        except HttpRefusal as refusal:
            return self._failed(refusal.step)
        if sum(map(len, contents_of(values).values())) > LARGEST_TOGETHER:
            self._failed("size")
            return _Result.KEPT
        match self.folder.state(values):
            case FolderState.OUTDATED:
                try:
                    self.folder.write(values)
                except OSError as error:
                    return self._failed("disk", error.strerror)
                self.process.meter.count(names.FILES_WRITTEN, result="written")
                return _Result.WRITTEN
            case FolderState.PRIVATE:
                self._failed("mode")
        return _Result.KEPT

    def _failed(self, reason: str, why: str | None = None) -> _Result:
        self.process.meter.count(names.FILES_WRITTEN, result=reason)
        log.warning("files_not_written", {names.REASON: reason, names.ERROR: why or ""})
        return _Result.FAILED
