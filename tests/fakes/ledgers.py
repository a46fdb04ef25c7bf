"""A ledger in memory, and one whose process is killed."""

import asyncio

from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.ports import Ledger
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.leases import HeldLease
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.credentials.vault.ledger_records import (
    LeaseEnded,
    LeaseRenewed,
    LedgerEntries,
    LoginIntent,
    TokenRevoked,
    lease_of,
    token_of,
)

from tests.fakes.vault_states import VaultState
from tests.fakes.vaults import MemoryVault


class MemoryLedger:
    """Its times are those of the monotonic clock."""

    def __init__(self) -> None:
        self.entries = LedgerEntries()
        self.renewed: list[int] = []

    def intend(self, account: Account) -> int:
        entry = self.entries.last + 1
        self.entries.apply(LoginIntent(entry, account, 0.0))
        return entry

    def save(self, account: Account, held: HeldLease) -> None:
        self.entries.apply(token_of(account, held, now=0.0, monotonic=0.0))

    def renew(self, held: HeldLease) -> None:
        self.renewed.append(held.entry)

    def end(self, entry: int) -> None:
        self.entries.apply(TokenRevoked(entry))

    def lend(self, path: str, holding: LeaseHolding, token: int) -> int:
        if not self.entries.knows(token):
            return 0
        entry = self.entries.last + 1
        self.entries.apply(lease_of(entry, path, holding, token, now=0.0, monotonic=0.0))
        return entry

    def renew_lease(self, entry: int, holding: LeaseHolding) -> None:
        self.entries.apply(LeaseRenewed(entry, holding.ends))

    def end_lease(self, entry: int) -> None:
        self.entries.apply(LeaseEnded(entry))


class Fate:
    """A process is killed before its step number *limit*; None is a long life."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.steps = 0
        self.dead = asyncio.Event()

    def lives(self) -> bool:
        """One step more. What a dead process still does has no effect any more."""
        if self.steps == self.limit:
            self.dead.set()
            return False
        self.steps += 1
        return True


class MortalVault(MemoryVault):
    """Asking and hearing the answer are two steps: in between Vault has done it."""

    def __init__(self, state: VaultState, fate: Fate) -> None:
        super().__init__(state)
        self._fate = fate

    async def before(self) -> None:
        await self._or_never()

    async def after(self) -> None:
        await self._or_never()

    async def _or_never(self) -> None:
        if not self._fate.lives():
            await asyncio.get_running_loop().create_future()


class MortalLedger:
    def __init__(self, file: LedgerFile, fate: Fate) -> None:
        self._file: Ledger = file
        self._fate = fate

    def intend(self, account: Account) -> int:
        return self._file.intend(account) if self._fate.lives() else 0

    def save(self, account: Account, held: HeldLease) -> None:
        if self._fate.lives():
            self._file.save(account, held)

    def renew(self, held: HeldLease) -> None:
        if self._fate.lives():
            self._file.renew(held)

    def end(self, entry: int) -> None:
        if self._fate.lives():
            self._file.end(entry)

    def lend(self, path: str, holding: LeaseHolding, token: int) -> int:
        return self._file.lend(path, holding, token) if self._fate.lives() else 0

    def renew_lease(self, entry: int, holding: LeaseHolding) -> None:
        if self._fate.lives():
            self._file.renew_lease(entry, holding)

    def end_lease(self, entry: int) -> None:
        if self._fate.lives():
            self._file.end_lease(entry)
