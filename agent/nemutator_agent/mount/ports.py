"""What publishing needs of the machine and of the credentials process."""

from collections.abc import Iterable
from typing import Protocol

from nemutator_agent.mount.records import VolumeRecord
from nemutator_agent.publications import Publication, VolumeDirectory


class Credentials(Protocol):
    """The credentials process. Each call has a deadline."""

    async def instance(self) -> str:
        """The id of this run of it. Raises CredentialsUnavailableError, as all methods do."""
        ...

    async def publish(self, volume_id: str, publication: Publication) -> None:
        """Return when the pod's socket listens."""
        ...

    async def unpublish(self, volume_id: str) -> None: ...


class PodMounts(Protocol):
    """Directories and mounts. All methods raise OSError, but not for what is done already. A target at
    which something else is mounted, or which belongs to another volume, is refused and stays as it is.
    """

    def is_published(self, volume_id: str, target: str) -> bool:
        """Whether this volume, and nothing else, is seen there."""
        ...

    def prepare(self, volume_id: str, target: str, *, group: int | None = None) -> VolumeDirectory:
        """Make the volume's own directory, a small file system in memory: the one that is seen at
        *target*, where there is one. Files that are made in it are for *group*."""
        ...

    def publish(self, volume_id: str, target: str) -> None:
        """Show the volume's directory at *target*."""
        ...

    def unpublish(self, volume_id: str, target: str) -> None: ...

    def discard(self, volume_id: str) -> None:
        """Remove the volume's directory with all that is in it."""
        ...


class VolumeRecords(Protocol):
    """Records that outlive this process. All methods raise OSError."""

    def all(self) -> Iterable[VolumeRecord]: ...

    def write(self, record: VolumeRecord) -> None: ...

    def remove(self, volume_id: str) -> None: ...
