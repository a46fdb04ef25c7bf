"""What following needs from others."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.following.records import FollowedObject, Workload
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.policies.snapshot import InSeason, Policies


class FollowedObjects(Protocol):
    """Running pods, and workloads that no other object makes."""

    def changed(self) -> Collection[FollowedObject] | None:
        """Those that came or changed since this was asked last; None: any may have."""
        ...

    def everything(self) -> AsyncIterator[FollowedObject] | None:
        """All as they are at this moment, whenever the next one is asked for, which holds up nobody; None
        while they are not known. Those that have ended or are ending are in neither."""
        ...

    async def read(self, pod: FollowedObject) -> tuple[Mapping[str, Any], str] | None:
        """The whole object and its version; None: it is gone. Raises `ObjectNotWrittenError`."""
        ...

    async def write(
        self, pod: FollowedObject, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        """Make all *edits* or none, if the object is still at *version*. Raises `ObjectChangedError` and
        `ObjectNotWrittenError`."""
        ...

    def there(self, uids: Collection[str]) -> AbstractSet[str]:
        """Those of *uids* that are pods which are there."""
        ...

    def notify(self, pod: FollowedObject, note: str, *, reason: str = "LiveMetadata") -> None:
        """A warning, as an Event of the object."""
        ...


class FollowedRules(Protocol):
    """What pods and workloads follow. A further object of each whenever it changes."""

    @property
    def policies(self) -> Policies | None:
        """None while they are not known."""
        ...

    @property
    def in_season(self) -> InSeason:
        """The names of policies whose seasons it is."""
        ...

    @property
    def tokens(self) -> tuple[str, KnownTokens | None]:
        """A tag that changes with them; None: there is no token store."""
        ...

    def written_at(self, policy: str) -> float | None:
        """When the policy of that name, as it is now, was written; None: that is not known."""
        ...

    def unwanted_labels(self, workload: Workload) -> frozenset[str]:
        """Keys of labels that the selector of *workload* wants pods without."""
        ...

    def service_selectors(self, namespace: str) -> Mapping[str, Mapping[str, str]] | None:
        """By which labels the Services of *namespace* find pods, by their names; None while they are not known."""
        ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None: ...


class FollowingJournal(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]:
        """What was taken back, and is not to be done again."""
        ...


class RememberedPolicies(Protocol):
    """Outlive the brain. Raises `StoreUnavailableError`."""

    async def all(self) -> Mapping[str, float]:
        """By name, since when."""
        ...

    async def replace(self, remembered: Mapping[str, float]) -> None: ...


class MissedEvictions(Protocol):
    async def ask(self, pod: FollowedObject, reason: str) -> bool:
        """Have it evicted when its turn comes; False: nobody would make another one, or there is no room for
        it. Raises `StoreUnavailableError`."""
        ...
