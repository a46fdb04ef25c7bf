"""What evictions need from others."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nemutator_controller.evictions.records import RestartablePod


class RestartablePods(Protocol):
    def now(self) -> Sequence[RestartablePod]:
        """All that run; empty while they are not known. Pods that are ending are not among them."""
        ...


class Rotations(Protocol):
    async def rotated(self, pod_uids: Collection[str]) -> Collection[tuple[str, str]]:
        """Node and uid of those pods of which their node has recorded that a secret has changed since they
        read it. Raises StoreUnavailableError."""
        ...


class PodEvictions(Protocol):
    async def evict(self, pod: RestartablePod) -> None:
        """Have it end as by `kubectl drain`. Raises NotEvictedError, PodGoneError."""
        ...

    def notify(self, pod: RestartablePod, note: str, *, warning: bool = False) -> None:
        """An Event of the pod."""
        ...
