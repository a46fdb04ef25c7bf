"""What the leases need from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_common.wire import Grant

from nemutator_controller.grants.token_leases import TokenLease


class GrantsView(Protocol):
    async def leases(self, *, namespace: str | None, limit: int) -> Sequence[TokenLease]:
        """Those that were touched last come first."""
        ...

    async def grants(
        self, *, namespace: str | None, digests: Sequence[str] | None, limit: int
    ) -> Sequence[Grant]:
        """The newest come first; with *digests* those whose path has one of them."""
        ...
