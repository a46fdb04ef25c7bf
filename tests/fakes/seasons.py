"""What seasons need, in memory."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.phases import Season
from nemutator_controller.seasons.records import PodStep, PolicySwitch, SeasonedPolicy
from nemutator_controller.seasons.start_times import SavedStarts


class MemorySeasonDays:
    """A `SavedDays`."""

    def __init__(self) -> None:
        self.days: dict[tuple[Scope, float, int], SavedDay] = {}
        self.is_away = False

    async def load(self, *, day_s: float, since: int | None = None) -> Sequence[SavedDay]:
        if self.is_away:
            raise StoreUnavailableError("full")
        found = [one for (_, length, _), one in self.days.items() if length == day_s]
        return sorted(
            (one for one in found if since is None or one.day >= since),
            key=lambda one: one.day,
        )

    async def save(self, days: Sequence[SavedDay], *, day_s: float) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        for one in days:
            self.days[one.scope, day_s, one.day] = one

    async def drop(self, *, before: int, day_s: float) -> int:
        old = [key for key in self.days if key[2] < before or key[1] != day_s]
        for key in old:
            del self.days[key]
        return len(old)


class MemoryStartTimes:
    """A `StartTimeStore`."""

    def __init__(self) -> None:
        self.starts: dict[Scope, SavedStarts] = {}
        self.is_away = False

    async def load(self) -> Sequence[SavedStarts]:
        return list(self.starts.values())

    async def save(self, kept: Sequence[SavedStarts], gone: Sequence[Scope]) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        for scope in gone:
            self.starts.pop(scope, None)
        self.starts |= {one.scope: one for one in kept}


class MemoryStartingPods:
    """A `StartingPods`."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[PodStep] = asyncio.Queue()

    async def steps(self) -> AsyncIterator[PodStep]:
        while True:
            yield await self.waiting.get()
            self.waiting.task_done()


class MemorySwitches:
    """A `SwitchStore`."""

    def __init__(self, *switches: PolicySwitch) -> None:
        self.switches: list[PolicySwitch] = list(switches)

    async def all(self) -> Sequence[PolicySwitch]:
        return list(self.switches)

    async def replace(self, switches: Collection[PolicySwitch]) -> None:
        self.switches = sorted(switches, key=lambda one: one.key)


class MemorySeasons:
    """A `KnownSeasonStates`."""

    def __init__(self) -> None:
        self.is_settled = True
        self.seasons: dict[Scope, Season] = {}

    def season(self, scope: Scope) -> Season:
        return self.seasons.get(scope, "unknown")


class MemorySeasoned:
    """A `SeasonedPolicies`."""

    def __init__(self, *policies: SeasonedPolicy) -> None:
        self.policies: Sequence[SeasonedPolicy] | None = policies

    async def sound(self) -> Sequence[SeasonedPolicy] | None:
        return self.policies


class MemorySwitchJournal:
    """A `SwitchJournal`."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.stones: list[Tombstone] = []
        self.is_away = False

    async def add(self, decision: Decision) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        return list(self.stones)

    async def forget(self, gone: Sequence[Tombstone]) -> int:
        before = len(self.stones)
        self.stones = [one for one in self.stones if one not in gone]
        return before - len(self.stones)
