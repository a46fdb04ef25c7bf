"""What the journal needs from others."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import (
    EVERYTHING,
    JournalEntry,
    KeptTombstone,
    Known,
    Narrowing,
    PodStamp,
    Reversal,
    StampedPod,
    State,
)
from nemutator_controller.mutations.decisions import Decision, Edit, Subject


class JournalStore(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def add(self, decisions: Sequence[Decision], *, writer: str, state: State) -> None:
        """Save *decisions*, except those whose ids are known already."""
        ...

    async def entry(self, decision: str) -> JournalEntry | None: ...

    async def entries(
        self, *, namespace: str | None, name: str | None, limit: int, only: Narrowing = EVERYTHING
    ) -> Sequence[JournalEntry]:
        """Newest first."""
        ...

    async def seen(self, decision: str, *, name: str, uid: str) -> bool:
        """Note the name of the object with the stamp of *decision*; False when there was nothing to note."""
        ...

    async def note(self, stamps: Sequence[PodStamp]) -> Sequence[Known]:
        """The same for pods of a cluster, where a stamp may be a copy; what is known of each."""
        ...

    async def close(self, reversal: Reversal) -> None:
        """Save *reversal*, and its state as the decision's, if that decision is still kept.

        A reversal with a known id changes nothing.
        """
        ...

    async def reversals(self, decision: str) -> Sequence[Reversal]:
        """Newest first."""
        ...

    async def add_tombstones(self, new: Sequence[KeptTombstone]) -> bool:
        """Save *new* ones in the place of older ones of the same fields; False, and none of them is
        saved, when there is no room for them."""
        ...

    async def tombstones(self) -> Sequence[KeptTombstone]: ...

    async def forget(self, gone: Sequence[Tombstone]) -> int:
        """Remove those of *gone* that are kept, and return their number."""
        ...

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* decisions older than *moment*, oldest first, and return their number."""
        ...

    async def drop_oldest(self, *, most: int) -> int:
        """The same where there are too many: first those of which no object was ever seen.

        Whoever reaches admission can have it decide about pods that never come to be.
        """
        ...

    async def count(self) -> int: ...


class PolicyRevisions(Protocol):
    async def __call__(self) -> Mapping[str, str]:
        """By name: which policies there are, and a text for each that changes when it does. Nothing is
        there while they are not known."""
        ...


class StampedPods(Protocol):
    def changes(self) -> AsyncIterator[StampedPod]:
        """Every pod with a stamp: first those that exist, then each that is created or changed."""
        ...


class Objects(Protocol):
    """The objects that were changed. Raises the errors that `live_objects.py` defines."""

    @property
    def running(self) -> bool:
        """Whether their pods run, so that not everything in them can be changed."""
        ...

    async def get(self, subject: Subject) -> LiveObject | None: ...

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        """The object with the stamp of *decision*, for when its name is not known."""
        ...

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        """Make all *edits* or none, if the object is still as *live* shows it.

        *resize*: they change resources of a running pod.
        """
        ...

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        """Raise what `write` would raise, and write nothing."""
        ...

    async def evict(self, live: LiveObject) -> None:
        """Evict a pod, so that its workload makes another one."""
        ...


class Manifests(Objects, Protocol):
    """Objects that are stored here because there is no cluster."""

    async def check(self, subject: Subject, document: Mapping[str, Any]) -> None:
        """Raise the error that `put` would raise, as far as it can be known before."""
        ...

    async def put(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        """Save *document* in the place of what was there before."""
        ...

    async def remove(self, subject: Subject) -> bool:
        """Remove the object; False when there is none."""
        ...

    async def all(self, kind: str | None = None) -> Sequence[LiveObject]:
        """All objects, of one kind if it is given, without those that cannot be read."""
        ...

    async def damaged(self, kind: str) -> Sequence[str]:
        """Why `all` leaves objects of that kind out, one reason for each."""
        ...
