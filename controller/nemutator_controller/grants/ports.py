"""What the leases need from others."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nemutator_common.wire import Grant

from nemutator_controller.cluster.pods import PodOwner
from nemutator_controller.grants.token_leases import TokenLease


class PodWorkloads(Protocol):
    """Which workload a pod is of; of pods that are gone nobody knows it."""

    def of(self, pod_uids: Collection[str]) -> Mapping[str, PodOwner]: ...

    def pods(self, namespace: str, workload: PodOwner) -> Collection[str]:
        """Their uids, some thousands at most."""
        ...


class GrantsView(Protocol):
    async def leases(
        self,
        *,
        namespace: str | None,
        pod_uids: Collection[str] | None,
        limit: int,
        expired_by: float | None = None,
    ) -> Sequence[TokenLease]:
        """Those that were touched last come first; with *pod_uids* those of these pods, with *expired_by* those that
        nobody had renewed or revoked by then."""
        ...

    async def grants(
        self,
        *,
        namespace: str | None,
        pod_uids: Collection[str] | None,
        digests: Sequence[str] | None,
        limit: int,
        refused: bool = False,
        since: float = -math.inf,
    ) -> Sequence[Grant]:
        """The newest come first; with *digests* those whose path has one of them, with *refused* those that nobody was
        granted."""
        ...
