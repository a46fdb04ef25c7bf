"""What profiles need of others."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from nemutator_controller.profiles.records import PodRef, Profile


@dataclass(frozen=True, slots=True)
class KnownPod:
    ref: PodRef
    node: str
    """Empty as long as it is on none."""


class KnownPods(Protocol):
    def find(self, name: str) -> KnownPod | None:
        """The pod of that `namespace/name` or uid; None: no cluster, or no such pod."""
        ...


class ProfileStore(Protocol):
    """Every call may raise StoreUnavailableError."""

    async def save(self, profile: Profile, pprof: bytes | None = None) -> None:
        """Keep *profile* in the place of what was there under its id."""
        ...

    async def find(self, identity: str) -> Profile | None: ...

    async def unfinished(self) -> Sequence[Profile]: ...

    async def newest(self, most: int) -> Sequence[Profile]: ...

    async def pprof(self, identity: str) -> bytes | None: ...

    async def prune(self, *, most: int, most_bytes: int) -> tuple[int, int]:
        """Remove the oldest finished ones above *most*, and then those above *most_bytes*."""
        ...


@dataclass(frozen=True, slots=True)
class AnnotatedPod:
    """A pod that bears our annotations, as it is now."""

    ref: PodRef
    node: str
    wanted: str
    """Of `nemutator.io/profile`."""
    result: str | None
    """Of `nemutator.io/profile-result`."""


class AnnotatedPods(Protocol):
    def changes(self) -> AsyncIterator[AnnotatedPod]:
        """First all pods that ask for a profile, then each as it changes."""
        ...


class ResultUnwrittenError(Exception):
    """Trying again later may help."""


class Results(Protocol):
    async def write(self, pod: PodRef, result: str) -> None:
        """Annotate *pod*, unless another has its name by now; ResultUnwrittenError."""
        ...

    def tell(self, pod: PodRef, note: str) -> None:
        """An Event for the pod's owner; never waits."""
        ...
