"""The files of one pod, in memory."""

from collections.abc import Mapping

from nemutator_agent.credentials.files.folder_states import FolderState
from nemutator_common.secret import Secret


class MemoryPodFolder:
    """A `ProjectedFolder`."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.files = None if files is None else dict(files)
        """None while nothing was written."""
        self.is_private = False
        self.full = False
        self.is_shared = False
        """Whether files cannot be given to the pod's user."""
        self.writes = 0

    def state(self, values: Mapping[str, Secret]) -> FolderState:
        if self.files is None:
            return FolderState.EMPTY
        if self.files == {name: value.reveal() for name, value in values.items()}:
            return FolderState.CURRENT
        return FolderState.PRIVATE if self.is_private else FolderState.OUTDATED

    def write(self, values: Mapping[str, Secret]) -> bool:
        if self.full:
            raise OSError(28, "No space left on device")
        self.writes += 1
        self.files = {name: value.reveal() for name, value in values.items()}
        return not self.is_shared
