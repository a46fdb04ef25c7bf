"""Where the history of all clusters on one database is read."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.history.fleet.one_row import HeardRow
from nemutator_controller.history.slices import SavedRow, Slice


class SavedHistories(Protocol):
    """Its calls raise `StoreUnavailableError` and `OtherFormError`."""

    async def rows(
        self, cluster: str, *, namespace: str | None = None, owner: str | None = None
    ) -> Sequence[HeardRow] | None:
        """What there is a history of in *cluster*; None: nobody has saved anything under that name."""
        ...

    async def slices(self, cluster: str, row: SavedRow) -> Sequence[Slice]:
        """All that is saved of *row*, in the order in which it is put back: slices of one row, whose number is 0."""
        ...
