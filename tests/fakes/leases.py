"""A lease in memory, and what can go wrong with it."""

import asyncio
from dataclasses import dataclass, field, replace

from nemutator_controller.leasing.election import BrainLease, LeaseTakenError, LeaseUnavailableError


@dataclass
class MemoryLease:
    """A `LeaseStore` that several brains share."""

    kept: BrainLease | None = None
    is_away: bool = False
    hangs: bool = False
    _versions: int = field(default=0, init=False)

    async def read(self) -> BrainLease | None:
        await self._reach()
        return self.kept

    async def write(self, lease: BrainLease) -> BrainLease:
        await self._reach()
        if lease.version != ("" if self.kept is None else self.kept.version):
            raise LeaseTakenError("another version")
        self._versions += 1
        self.kept = replace(lease, version=str(self._versions))
        return self.kept

    async def _reach(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.is_away:
            raise LeaseUnavailableError("away")
