"""What the leases need from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from nemutator_common.wire import Grant

from nemutator_controller.grants.token_leases import TokenLease

MOST_PODS = 5_000
"""Of one workload, in one question."""


class PodWorkload(NamedTuple):
    kind: str
    name: str


class PodWorkloads(Protocol):
    """Which workload a pod is of; of pods that are gone nobody knows it."""

    def of(self, pod_uids: Collection[str]) -> Mapping[str, PodWorkload]: ...

    def pods(self, namespace: str, workload: PodWorkload) -> Collection[str]:
        """Uids, `MOST_PODS` of them at most."""
        ...


class NoPodWorkloads:
    """The `PodWorkloads` of a machine that is in no cluster."""

    def of(self, pod_uids: Collection[str]) -> Mapping[str, PodWorkload]:
        return {}

    def pods(self, namespace: str, workload: PodWorkload) -> Collection[str]:
        return ()


class GrantsView(Protocol):
    async def leases(
        self, *, namespace: str | None, pod_uids: Collection[str] | None, limit: int
    ) -> Sequence[TokenLease]:
        """Those that were touched last come first; with *pod_uids* those of these pods."""
        ...

    async def grants(
        self,
        *,
        namespace: str | None,
        pod_uids: Collection[str] | None,
        digests: Sequence[str] | None,
        limit: int,
    ) -> Sequence[Grant]:
        """The newest come first; with *digests* those whose path has one of them."""
        ...
