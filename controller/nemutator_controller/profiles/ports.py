"""What profiles need from others."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from nemutator_controller.profiles.records import (
    AnnotatedPod,
    KnownPod,
    PodRef,
    ProfileRecord,
    SurplusProfiles,
)


class KnownPods(Protocol):
    def find(self, name: str) -> KnownPod | None:
        """The pod of that `namespace/name` or uid; None: no cluster, or no such pod."""
        ...


class ReadProfiles(Protocol):
    """Those of one cluster. Every call may raise StoreUnavailableError."""

    async def newest(self, most: int) -> Sequence[ProfileRecord]: ...

    async def find(self, identity: str) -> ProfileRecord | None: ...

    async def pprof(self, identity: str) -> bytes | None: ...


class ProfileStore(Protocol):
    """Every call may raise StoreUnavailableError."""

    async def save(self, profile: ProfileRecord, pprof: bytes | None = None) -> None:
        """Save *profile* in the place of what was there under its id."""
        ...

    async def find(self, identity: str) -> ProfileRecord | None: ...

    async def unfinished(self) -> Sequence[ProfileRecord]: ...

    async def newest(self, most: int) -> Sequence[ProfileRecord]: ...

    async def pprof(self, identity: str) -> bytes | None: ...

    async def prune(self, *, most: int, most_bytes: int) -> tuple[int, int]:
        """Remove the oldest finished ones above *most*, and then those above *most_bytes*."""
        ...


class ProfileDocuments(ProfileStore, Protocol):
    """One that can say beforehand what it would remove."""

    async def surplus(self, *, most: int, most_bytes: int) -> SurplusProfiles:
        """What `prune` would remove now, as far as one turn of it goes."""
        ...

    async def remove(self, identities: Sequence[str]) -> None: ...


class AnnotatedPods(Protocol):
    def changes(self) -> AsyncIterator[AnnotatedPod]:
        """First all pods that ask for a profile, then each as it changes."""
        ...


class PushDestination(Protocol):
    """Another store of profiles."""

    @property
    def name(self) -> str: ...

    async def push(self, profile: ProfileRecord, pprof: bytes) -> None:
        """Give it *profile*. Raises PushUnavailableError or PushRefusedError."""
        ...


class Results(Protocol):
    async def write(self, pod: PodRef, result: str) -> None:
        """Annotate *pod*, unless another has its name by now; ResultUnwrittenError."""
        ...

    def notify(self, pod: PodRef, note: str) -> None:
        """Make an Event for the pod's owner; it never waits."""
        ...
