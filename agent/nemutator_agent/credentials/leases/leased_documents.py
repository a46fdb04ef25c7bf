"""Secrets that Vault has lent to one account, each with the state of its lease."""

from dataclasses import dataclass

from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.vault.documents import Document

MOST_LEASED = 64
"""Secrets of one account; a pod declares no more references."""


@dataclass(slots=True, eq=False)
class LeasedDocument:
    document: Document
    holding: LeaseHolding
    token: int
    """The ledger's number of the token that it was read with: it ends with that token."""
    entry: int = 0
    """Its own number in the ledger; 0 where there is none."""
    kept: bool = False
    """Whether Vault keeps it for the next run, or cannot."""

    @property
    def lease_id(self) -> str:
        return self.document.lease.id if self.document.lease else ""


@dataclass(slots=True, eq=False)
class RecoveredLease:
    """A lease from before this process has started. It is renewed for as long as Vault does that. When its path
    is read, it becomes a `LeasedDocument` again where Vault has kept what it lends; else that is known to the
    pod alone, and who reads the path gets another one."""

    path: str
    holding: LeaseHolding
    token: int
    entry: int

    @property
    def lease_id(self) -> str:
        return self.holding.given.id if self.holding.given else ""
