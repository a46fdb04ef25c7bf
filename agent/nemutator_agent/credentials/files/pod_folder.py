"""The folder of files in a pod's volume, in which the pod's own processes may do anything."""

import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.projected_files import directory_mode, project, projected
from nemutator_common.secret import Secret

from nemutator_agent.credentials.files.folder_states import (
    FolderState,
    contents_of,
    folder_state,
)

FOLDER = "secrets"
MODE = 0o444
"""Only this pod mounts the volume; this process has no right to give a file to the pod's user."""

MODE_OF_GROUP = 0o440
"""Where mount has made the folder so that all that is made in it is for the pod's group."""

LARGEST = 256 << 10


@dataclass(frozen=True, slots=True)
class PodFolder:
    """A `ProjectedFolder`."""

    volume: int
    """The open directory of the volume."""

    def state(self, values: Mapping[str, Secret]) -> FolderState:
        folder = self._open()
        if folder is None:
            return FolderState.EMPTY
        try:
            found = projected(folder, values, most=LARGEST)
            return folder_state(found, values, ours=directory_mode(_mode_in(folder)))
        finally:
            os.close(folder)

    def write(self, values: Mapping[str, Secret]) -> None:
        folder = self._open()
        if folder is None:
            raise OSError(errno.ENOTDIR, f"{FOLDER} is no directory")
        try:
            project(folder, contents_of(values), mode=_mode_in(folder))
        finally:
            os.close(folder)

    def _open(self) -> int | None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(FOLDER, flags, dir_fd=self.volume)
        except OSError:
            return None


def _mode_in(folder: int) -> int:
    found = os.fstat(folder)
    return MODE_OF_GROUP if found.st_mode & stat.S_ISGID and found.st_gid else MODE
