"""A secret that Vault has lent to one account, with the state of its lease."""

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

    @property
    def lease_id(self) -> str:
        return self.document.lease.id if self.document.lease else ""
