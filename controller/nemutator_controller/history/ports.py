"""What history needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.database.claim import Claim
from nemutator_controller.history.older import OlderCells, OlderQuestion
from nemutator_controller.history.slices import Level, SavedRow, Slice
from nemutator_controller.prometheus_answers import PrometheusAnswer


class UsageHistoryStore(Protocol):
    """Where history survives a restart of the brain. Its calls raise `StoreUnavailableError`.

    Several brains write by a claim: who has lost it writes nothing, and hears that by `ClaimLostError`.
    """

    async def rows(self) -> Sequence[SavedRow]: ...

    async def slices(self, level: Level, part: int) -> Sequence[Slice]:
        """All slices of *level* of these rows. What cannot be read is left out."""
        ...

    async def save(
        self,
        rows: Sequence[SavedRow],
        gone: Sequence[int],
        slices: Sequence[Slice],
        claim: Claim | None = None,
    ) -> None:
        """Put all of it in the place of what was there, and remove the rows *gone*, or do nothing."""
        ...

    async def drop_beyond(self, rows: int, claim: Claim | None = None) -> None:
        """Remove all that is of a row with this number or a higher one."""
        ...


class RemoteWriteReceiver(Protocol):
    async def write(self, body: bytes) -> None:
        """Send a body of remote write 1.0. Raises one of the two errors above."""
        ...


class OlderHistory(Protocol):
    async def cells(self, asked: OlderQuestion) -> OlderCells:
        """What is known of a row before our own history. Raises `OlderUnavailableError`, in bounded time."""
        ...


class RangeQueries(Protocol):
    """Raises the two errors of `prometheus_answers`, in bounded time."""

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer: ...
