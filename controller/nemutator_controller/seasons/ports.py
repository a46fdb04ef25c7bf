"""What seasons need from others."""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.phases import Season
from nemutator_controller.seasons.records import PodStep, PolicySwitch, SeasonedPolicy
from nemutator_controller.seasons.start_times import SavedStarts


class SavedDays(Protocol):
    """Where days survive a restart of the brain. Raises `StoreUnavailableError`."""

    async def load(self, *, day_s: float, since: int | None = None) -> Sequence[SavedDay]:
        """Those of days of that length; with *since* from that day on."""
        ...

    async def save(self, days: Sequence[SavedDay], *, day_s: float) -> None:
        """Put them in the place of what was there of the same days."""
        ...

    async def drop(self, *, before: int, day_s: float) -> int:
        """Remove older days, and those of another length; how many those were."""
        ...


class StartTimeStore(Protocol):
    """Raises `StoreUnavailableError`."""

    async def load(self) -> Sequence[SavedStarts]: ...

    async def save(self, kept: Sequence[SavedStarts], gone: Sequence[Scope]) -> None:
        """Put *kept* in the place of what was there of the same workloads, and forget those that are *gone*."""
        ...


class StartingPods(Protocol):
    def steps(self) -> AsyncIterator[PodStep]:
        """What changes of pods, for ever."""
        ...


class SwitchStore(Protocol):
    """Raises `StoreUnavailableError`."""

    async def all(self) -> Sequence[PolicySwitch]: ...

    async def replace(self, switches: Collection[PolicySwitch]) -> None: ...


class SeasonedPolicies(Protocol):
    async def sound(self) -> Sequence[SeasonedPolicy] | None:
        """Those whose `when` names seasons; None while they are not known."""
        ...


class KnownSeasonStates(Protocol):
    @property
    def is_settled(self) -> bool:
        """Whether what was saved has been looked at since the start."""
        ...

    def season(self, scope: Scope) -> Season: ...


class SwitchJournal(Protocol):
    """Raises `StoreUnavailableError`."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]: ...

    async def forget(self, gone: Sequence[Tombstone]) -> int: ...
