"""What evictions need from others."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nemutator_controller.evictions.records import (
    EvictablePod,
    EvictionRequest,
    EvictionState,
    RequestedEviction,
)
from nemutator_controller.kube.reviews import User


class RestartablePods(Protocol):
    def now(self) -> Sequence[EvictablePod]:
        """All that run, and want to be made anew when their secrets have changed; empty while they are
        not known. Pods that are ending are not among them."""
        ...


class EvictablePods(Protocol):
    async def now(self) -> Sequence[EvictablePod] | None:
        """All pods that have not ended and are not ending; None while they are not known."""
        ...

    async def together(self, uids: Collection[str]) -> Sequence[EvictablePod] | None:
        """Of these, the pods with those *uids* and all others of their workloads; None while they are not
        known. It costs nothing for the pods of other workloads."""
        ...


class Rotations(Protocol):
    async def rotated(self, pod_uids: Collection[str]) -> Collection[tuple[str, str]]:
        """Node and uid of those pods of which their node has recorded that a secret has changed since they
        read it. Raises StoreUnavailableError."""
        ...


class PodEvictions(Protocol):
    async def evict(self, pod: EvictablePod) -> None:
        """Have it end as by `kubectl drain`. Raises NotEvictedError, PodGoneError."""
        ...

    def notify(self, pod: EvictablePod, note: str, *, warning: bool = False) -> None:
        """An Event of the pod."""
        ...


class EvictionRights(Protocol):
    async def forbidden(self, user: User, namespaces: Collection[str]) -> Sequence[str]:
        """Those of *namespaces* in which *user* may not evict pods. Raises UnknownNowError."""
        ...


class EvictionStore(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def add(
        self, request: EvictionRequest, evictions: Sequence[RequestedEviction]
    ) -> None: ...

    async def save(self, evictions: Sequence[RequestedEviction]) -> None:
        """Save the states of *evictions*, which were added before."""
        ...

    async def unfinished(self) -> Sequence[tuple[EvictionRequest, Sequence[RequestedEviction]]]:
        """Requests of which a pod is in an open state, oldest first, with those pods."""
        ...

    async def evicted_since(self, moment: float) -> Sequence[RequestedEviction]:
        """Oldest first."""
        ...

    async def requests(
        self, *, namespace: str | None, limit: int
    ) -> Sequence[tuple[EvictionRequest, dict[EvictionState, int]]]:
        """Newest first, with the number of pods in each state, in one namespace or in all."""
        ...

    async def request(
        self, id_: str, *, namespace: str | None
    ) -> tuple[EvictionRequest, Sequence[RequestedEviction]] | None: ...

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* requests older than *moment*, oldest first, and return their number."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...
