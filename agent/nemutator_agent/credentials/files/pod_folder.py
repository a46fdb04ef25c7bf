"""The folder of files in a pod's volume, in which the pod's own processes may do anything."""

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from nemutator_common.projected_files import directory_mode, marked, project, projected
from nemutator_common.secret import Secret

from nemutator_agent.credentials.files.folder_states import (
    FolderState,
    contents_of,
    folder_state,
    parts_of,
)
from nemutator_agent.credentials.value_digests import ValueDigests

FOLDER = "secrets"
MODE = 0o444
"""Where the pod does not say whose they are. Only this pod mounts the volume."""

MODE_OF_GROUP = 0o440
"""Where mount has made the folder so that all that is made in it is for the pod's group."""

MODE_OF_USER = 0o400

LARGEST = 256 << 10


@dataclass(frozen=True, slots=True)
class PodFolder:
    """A `ProjectedFolder`."""

    volume: int
    """The open directory of the volume."""
    _: KW_ONLY
    user: int | None
    """Whose the files are, where the pod says so."""
    digests: ValueDigests

    def state(self, values: Mapping[str, Secret]) -> FolderState:
        folder = self._open()
        if folder is None:
            return FolderState.EMPTY
        contents = contents_of(values)
        sizes = {name: len(content) for name, content in contents.items()}
        try:
            # Files of the pod's user cannot be read here.
            if marked(folder, sizes) == self._mark(contents):
                return FolderState.CURRENT
            found = projected(folder, values, most=LARGEST)
            return folder_state(found, values, ours=directory_mode(_mode_in(folder)))
        finally:
            os.close(folder)

    def write(self, values: Mapping[str, Secret]) -> bool:
        folder = self._open()
        if folder is None:
            raise OSError(errno.ENOTDIR, f"{FOLDER} is no directory")
        contents = contents_of(values)
        mark = self._mark(contents)
        try:
            if self.user is not None:
                # Without CAP_CHOWN they can be given to nobody, and stay for all who could read them before.
                with contextlib.suppress(PermissionError):
                    project(folder, contents, mode=MODE_OF_USER, owner=self.user, mark=mark)
                    return True
            project(folder, contents, mode=_mode_in(folder), mark=mark)
            return self.user is None
        finally:
            os.close(folder)

    def _mark(self, contents: Mapping[str, bytes]) -> str:
        return self.digests.of(*parts_of(contents)).hex()

    def _open(self) -> int | None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(FOLDER, flags, dir_fd=self.volume)
        except OSError:
            return None


def _mode_in(folder: int) -> int:
    found = os.fstat(folder)
    return MODE_OF_GROUP if found.st_mode & stat.S_ISGID and found.st_gid else MODE
