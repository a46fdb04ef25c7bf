"""What updating needs from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.updating.model import SoundSizing
from nemutator_controller.updating.node_room import PodNeeds
from nemutator_controller.updating.records import (
    ContainerAdvice,
    HourlyAmount,
    PodSurroundings,
    SizedPod,
    SizedWorkload,
)


class SizedPods(Protocol):
    async def now(self) -> Sequence[SizedPod] | None:
        """Those that run and go on; None while they are not known."""
        ...

    def around(self, pod: SizedPod) -> PodSurroundings | None:
        """None while that is not known."""
        ...

    async def read(self, pod: SizedPod) -> tuple[SizedPod, Mapping[str, Any], str] | None:
        """As it is now, its whole document, and its version; None: it is gone. Raises `NotResizedError`."""
        ...

    async def rehearse(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        """Raise what `resize` would raise, and write nothing."""
        ...

    async def resize(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        """Change resources, all or none, if the pod is still at *version*. Raises `PodChangedError` and
        `NotResizedError`."""
        ...

    async def stamp(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edit: Edit
    ) -> tuple[Mapping[str, Any], str]:
        """Write its stamp, and return the document and its version after that. Raises the same."""
        ...

    def notify(self, pod: SizedPod, note: str, *, warning: bool = False) -> None:
        """As an Event of the pod."""
        ...


class PodEvictor(Protocol):
    async def evict(self, pod: SizedPod) -> None:
        """Have it end as by `kubectl drain`. Raises `NotResizedError`; of a pod that is gone nothing."""
        ...

    def has_room(self, needs: PodNeeds) -> bool:
        """Whether a node of the cluster, empty, could take a pod that requests so much."""
        ...

    def notify(self, pod: SizedPod, note: str, *, warning: bool = False) -> None:
        """As an Event of the pod."""
        ...


class KnownSizings(Protocol):
    def sound(self) -> Sequence[SoundSizing] | None:
        """In the order of their names; None while they are not known."""
        ...

    def faulty(self) -> Mapping[str, str]:
        """What is wrong, by name."""
        ...

    def in_season(self) -> frozenset[str]:
        """The names of those whose seasons it is."""
        ...


class GivenAdvice(Protocol):
    async def now(self) -> Mapping[SizedWorkload, Mapping[str, ContainerAdvice]]:
        """By workload and name of the container."""
        ...


class HourlyAdvice(Protocol):
    def want(self, containers: Collection[tuple[SizedWorkload, str]]) -> None:
        """All containers whose CPU policies follow hourly now."""
        ...

    def of(self, workload: SizedWorkload, container: str) -> HourlyAmount | None:
        """None: it was not wanted yet."""
        ...


class SizingJournal(Protocol):
    """Raises `StoreUnavailableError` when it cannot be asked."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]:
        """What was taken back, and is not to be done again."""
        ...


class ProvenWebhook(Protocol):
    def is_alive(self) -> bool:
        """Whether a replica of admission was heard of lately."""
        ...
