"""What the journal needs from others."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

from nemutator_common.wire import Tombstone

from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import (
    JournalEntry,
    Known,
    PodStamp,
    Reversal,
    StampedPod,
    State,
)
from nemutator_controller.mutations.decisions import Decision, Edit, Subject


class JournalStore(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def add(self, decisions: Sequence[Decision], *, writer: str, state: State) -> None:
        """Save *decisions*; those whose id is known already change nothing."""
        ...

    async def entry(self, decision: str) -> JournalEntry | None: ...

    async def entries(
        self, *, namespace: str | None, name: str | None, limit: int
    ) -> Sequence[JournalEntry]:
        """Newest first."""
        ...

    async def seen(self, decision: str, *, name: str, uid: str) -> bool:
        """Note the name of the object that carries the stamp of *decision*. False: nothing was to be noted."""
        ...

    async def note(self, stamps: Sequence[PodStamp]) -> Sequence[Known]:
        """The same for pods of a cluster, where anybody may have copied a stamp; one by one."""
        ...

    async def close(self, reversal: Reversal) -> None:
        """Save *reversal*, and its state as the decision's, if that decision is kept.

        Again with the same id: nothing.
        """
        ...

    async def reversals(self, decision: str) -> Sequence[Reversal]:
        """Newest first."""
        ...

    async def add_tombstones(self, new: Sequence[Tombstone], *, decision: str, at: float) -> bool:
        """Save *new* ones; False, and none is kept, when there is no room for them."""
        ...

    async def tombstones(self) -> Sequence[Tombstone]: ...

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* decisions older than *moment*, oldest first; how many there were."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...


class StampedPods(Protocol):
    def changes(self) -> AsyncIterator[StampedPod]:
        """Every pod with a stamp: first those that there are, then each that comes or changes."""
        ...


class Objects(Protocol):
    """The objects that were changed, where they are kept. Raises what `live_objects.py` defines."""

    @property
    def running(self) -> bool:
        """Whether a pod there is one that runs, of which not everything can be changed."""
        ...

    async def get(self, subject: Subject) -> LiveObject | None: ...

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        """The object that carries the stamp of *decision*, for when its name is not known."""
        ...

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        """Make *edits*, all of them or none, if the object still is as *live* shows it.

        *resize*: they are resources of a running pod.
        """
        ...

    async def evict(self, live: LiveObject) -> None:
        """Ask for the end of a pod, so that its workload makes another one."""
        ...


class Manifests(Objects, Protocol):
    """Objects that are kept here because there is no cluster that would keep them."""

    async def check(self, subject: Subject, document: Mapping[str, Any]) -> None:
        """Raise what `put` would, as far as that can be known before."""
        ...

    async def put(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        """Save *document*, whatever was there before."""
        ...

    async def all(self, kind: str | None = None) -> Sequence[LiveObject]:
        """Every object, of one kind if it is named; what cannot be read is left out."""
        ...

    async def damaged(self, kind: str) -> Sequence[str]:
        """What `all` leaves out of that kind, each with its reason."""
        ...
