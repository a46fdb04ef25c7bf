"""What brains share, in memory: as PostgreSQL keeps it."""

from collections.abc import Callable, Collection, Mapping, Sequence

from nemutator_common.clocks import Clock
from nemutator_common.wire_activity import Flow
from nemutator_controller.database.claim import LOST_AFTER_S, Claim
from nemutator_controller.ingest.usage_points import UsagePoints
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.shared.kept_points import WaitingPoints, pack

from tests.fakes.brain_stores import Failing


class SharedRows:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.claim = Claim("learner", "", 0)
        self.heard_at = 0.0
        self.waiting: dict[int, WaitingPoints] = {}
        self.rows: dict[ContainerKey, SavedUsage] = {}
        self._last = 0

    def copy(self) -> Callable[[], None]:
        """Back up what is here; what is returned restores it."""
        claim, heard_at, last = self.claim, self.heard_at, self._last
        waiting, rows = dict(self.waiting), dict(self.rows)

        def restore() -> None:
            self.claim, self.heard_at, self._last = claim, heard_at, last
            self.waiting, self.rows = dict(waiting), dict(rows)

        return restore

    def report(
        self, node: str, points: UsagePoints | None = None, flows: Sequence[Flow] = ()
    ) -> None:
        self._last += 1
        self.waiting[self._last] = WaitingPoints(self._last, node, pack(points, flows))

    def spoil(self) -> None:
        self._last += 1
        self.waiting[self._last] = WaitingPoints(self._last, "n1", b"?")


class MemorySharedUsages(Failing):
    """A `SharedUsages` of one brain."""

    def __init__(self, rows: SharedRows, holder: str) -> None:
        self._rows, self._holder = rows, holder
        self._heard_at = 0.0

    async def take(self) -> Claim | None:
        self._work()
        self._heard_at = 0.0
        rows, now = self._rows, self._rows.clock.now()
        if rows.claim.holder != self._holder and rows.heard_at >= now - LOST_AFTER_S:
            return None
        rows.claim = Claim("learner", self._holder, rows.claim.generation + 1)
        rows.heard_at = now
        return rows.claim

    async def renew(self, claim: Claim) -> bool:
        self._work()
        if claim != self._rows.claim or self._rows.heard_at < self._heard_at:
            return False
        self._rows.heard_at = self._heard_at = self._rows.clock.now()
        return True

    async def release(self, claim: Claim) -> None:
        self._work()
        if claim == self._rows.claim:
            self._rows.heard_at = 0.0

    async def waiting(self) -> Sequence[int]:
        self._work()
        return list(self._rows.waiting)

    async def points(self, numbers: Sequence[int]) -> Sequence[WaitingPoints]:
        self._work()
        return [self._rows.waiting[one] for one in numbers if one in self._rows.waiting]

    async def load(self, *, heard_since: float) -> Mapping[ContainerKey, SavedUsage]:
        self._work()
        return {key: row for key, row in self._rows.rows.items() if row.heard_at >= heard_since}

    async def save(
        self,
        claim: Claim,
        kept: Mapping[ContainerKey, SavedUsage],
        gone: Collection[ContainerKey],
        learned: Collection[int],
    ) -> bool:
        self._work()
        if claim != self._rows.claim:
            return False
        self._rows.rows |= kept
        for key in gone:
            self._rows.rows.pop(key, None)
        for number in learned:
            del self._rows.waiting[number]
        return True
