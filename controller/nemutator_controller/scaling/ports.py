"""What scaling needs from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.scaling.model import SoundScaler
from nemutator_controller.scaling.records import (
    FoundAutoscaler,
    ScalerKey,
    SpareCpu,
    Workload,
    WorkloadForecast,
)


class KnownScalers(Protocol):
    def sound(self) -> Sequence[SoundScaler] | None:
        """In the order of their names; None while they are not known."""
        ...

    def faulty(self) -> Mapping[ScalerKey, str]:
        """What is wrong, by namespace and name."""
        ...


class ScaledAutoscalers(Protocol):
    async def now(
        self, wanted: Collection[ScalerKey]
    ) -> Mapping[ScalerKey, FoundAutoscaler] | None:
        """Those of *wanted* that are there, and all that bear our annotation; None while they are not known."""
        ...

    async def raise_to(self, one: FoundAutoscaler, minimum: int, annotation: str) -> None:
        """Only if it is still as it was seen; one that is gone or has changed is seen again. Raises
        `NotScaledWorkloadError`."""
        ...

    async def give_back(self, one: FoundAutoscaler, base: int) -> None:
        """Have it be as its owner wrote it, with nothing of ours left; as above."""
        ...

    def notify(self, one: FoundAutoscaler, note: str, *, warning: bool = False) -> None:
        """As an Event of it."""
        ...


class WorkloadForecasts(Protocol):
    def of(self, workload: Workload, lead_s: float | None) -> WorkloadForecast:
        """Of the time within *lead_s*, or within the time that its pods take until they are ready."""
        ...


class ScalingJournal(Protocol):
    """Raises `StoreUnavailableError`."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]: ...

    async def ended(self, decision: str, paths: Sequence[str], why: str) -> None:
        """Note that the change of *decision* does not stand any more, because we take it back ourselves."""
        ...


class SpareCpuOfCluster(Protocol):
    async def now(self) -> SpareCpu | None:
        """None while it is not known."""
        ...


class GrowthQueries(Protocol):
    async def highest(self, query: str) -> float | str:
        """The highest value that *query* has now, or why there is none."""
        ...
