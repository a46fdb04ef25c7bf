"""What the history needs from others."""

from typing import Protocol

from nemutator_controller.database.retention import Bounded
from nemutator_controller.usage.history import Series


class HistoryStore(Bounded, Protocol):
    async def series(self, node: str, *, since: float) -> Series | None:
        """The points of *node* since then; None when there is no such node."""
        ...
