"""What history needs from others, in memory."""

from collections.abc import Sequence

from nemutator_controller.database.claim import Claim, ClaimLostError
from nemutator_controller.history.slices import PART, Level, SavedRow, Slice, SliceName

from tests.fakes.brain_stores import Failing


class MemoryUsageHistory(Failing):
    """A `UsageHistoryStore`."""

    def __init__(self) -> None:
        self.kept_rows: dict[int, SavedRow] = {}
        self.kept: dict[SliceName, Slice] = {}
        self.steps: list[int] = []
        """Slices of each save."""
        self.claim: Claim | None = None
        """The one that holds."""

    async def rows(self) -> Sequence[SavedRow]:
        self._work()
        return list(self.kept_rows.values())

    async def slices(self, level: Level, part: int) -> Sequence[Slice]:
        self._work()
        return [
            one for one in self.kept.values() if (one.name.level, one.name.part) == (level, part)
        ]

    async def save(
        self,
        rows: Sequence[SavedRow],
        gone: Sequence[int],
        slices: Sequence[Slice],
        claim: Claim | None = None,
    ) -> None:
        self._work_by(claim)
        fresh = {one.name: one for one in slices}
        assert len(fresh) == len(slices), "a database refuses two of one name"
        self.steps.append(len(slices))
        for number in gone:
            self.kept_rows.pop(number, None)
        self.kept_rows |= {one.number: one for one in rows}
        self.kept |= fresh

    async def drop_beyond(self, rows: int, claim: Claim | None = None) -> None:
        self._work_by(claim)
        self.kept_rows = {number: one for number, one in self.kept_rows.items() if number < rows}
        parts = -(-rows // PART)
        self.kept = {name: one for name, one in self.kept.items() if name.part < parts}

    def _work_by(self, claim: Claim | None) -> None:
        self._work()
        if claim != self.claim:
            raise ClaimLostError
