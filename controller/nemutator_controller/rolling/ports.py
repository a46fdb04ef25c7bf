"""What rolls need from others."""

from collections.abc import Sequence
from typing import Any, Protocol

from nemutator_controller.kube.reviews import User
from nemutator_controller.rolling.records import LiveWorkload, Roll, RolledWorkload


class Workloads(Protocol):
    """Raises `WorkloadGoneError`, `WorkloadRefusedError` and `WorkloadUnreachableError`."""

    async def get(self, workload: RolledWorkload) -> LiveWorkload: ...

    async def patch(self, live: LiveWorkload, change: Any) -> LiveWorkload:
        """Merge *change* into it, if it is still as *live* shows it; else raises `WorkloadChangedError`."""
        ...

    def notify(self, workload: RolledWorkload, note: str, *, warning: bool = False) -> None:
        """An Event of the workload."""
        ...


class OffPeaks(Protocol):
    def is_off_peak(self, workload: RolledWorkload) -> bool | None:
        """Whether little is asked of *workload* now, as far as its days are alike; None: that cannot be told."""
        ...


class RollRights(Protocol):
    async def may(self, user: User, workload: RolledWorkload) -> bool:
        """Whether *user* may patch *workload* themselves. Raises UnknownNowError."""
        ...


class RollStore(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def save(self, roll: Roll) -> None:
        """Add *roll*, or replace what is known of it."""
        ...

    async def unfinished(self) -> Sequence[Roll]:
        """Oldest first."""
        ...

    async def rolls(self, *, namespace: str | None, limit: int) -> Sequence[Roll]:
        """Newest first."""
        ...

    async def roll(self, id_: str) -> Roll | None: ...

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* finished rolls older than *moment*, oldest first; returns their number."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...
