"""What sizing needs from others."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Protocol

from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.sizing.hourly.requests import HourlyRequest
from nemutator_controller.sizing.keys import ContainerKey, Requested, Workload
from nemutator_controller.sizing.killed_containers import KilledContainer
from nemutator_controller.sizing.packed_rows import SavedUsage


class Requests(Protocol):
    async def now(self) -> Mapping[ContainerKey, Requested]:
        """What containers request, of those that are known."""
        ...


class RequestedMemory(Protocol):
    def of(self, series: Series) -> float:
        """Bytes that the pod of *series* requests for that container, or may use; 0 where that is not known."""
        ...


class KilledContainers(Protocol):
    def changes(self) -> AsyncIterator[KilledContainer]:
        """Every container whose last run ended so: first those that there are, then each with each change of its
        pod."""
        ...


class GrowingMemory(Protocol):
    def of(self, key: ContainerKey) -> str | None:
        """Why memory should not be requested for it by what it has used; None: it may be."""
        ...


class SizedElsewhere(Protocol):
    def now(self) -> Mapping[Workload, Mapping[str, str]]:
        """Of workloads that somebody else sizes or scales: why a resource is left to them, by resource."""
        ...


class KnownHourly(Protocol):
    def now(self) -> Mapping[ContainerKey, HourlyRequest]:
        """Of all containers that a policy follows hourly: the request of this hour, or why there is none."""
        ...


class UsageStore(Protocol):
    """Where histograms survive a restart of the brain."""

    async def load(self) -> Mapping[ContainerKey, SavedUsage]: ...

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        """Save *kept* in the place of what was there, and remove *gone*."""
        ...


class TemplateImages(Protocol):
    def of_each(self, keys: Sequence[ContainerKey]) -> list[str]:
        """The images of their containers, without a version; empty where they are not known."""
        ...


class RuntimeFlags(Protocol):
    def of_each(self, keys: Sequence[ContainerKey]) -> list[tuple[str, ...]]:
        """What their containers are started with that says how much their language may take."""
        ...
