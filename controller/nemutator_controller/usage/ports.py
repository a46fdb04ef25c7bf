"""What the history needs from others."""

from typing import Protocol

from nemutator_controller.usage.history import MachineSeries


class HistoryStore(Protocol):
    async def series(self, node: str, *, since: float) -> MachineSeries | None:
        """The points of *node* since then; None when there is no such node."""
        ...

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* points older than *moment*, oldest first; returns their number."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...
