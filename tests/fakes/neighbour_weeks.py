"""Where weeks of grades are kept, in memory."""

from collections.abc import Sequence

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.neighbours.week_grades import SavedWeek


class MemoryNeighbourWeeks:
    """A `WeekStore`."""

    def __init__(self) -> None:
        self.weeks: Sequence[SavedWeek] = ()
        self.is_away = False

    async def load(self) -> Sequence[SavedWeek]:
        return list(self.weeks)

    async def replace(self, weeks: Sequence[SavedWeek]) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        self.weeks = list(weeks)
