"""What hourly requests need from others."""

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.hourly.points import KeptHours
from nemutator_controller.sizing.keys import ContainerKey


class UsedLately(Protocol):
    def cores(self, key: ContainerKey, *, begin: int, hours: int) -> Numbers:
        """What the busiest pod used in steps of five minutes, by hours from the hour *begin* on; NaN: not known."""
        ...

    def throttled(self, key: ContainerKey, *, hour: int) -> float:
        """The share of that hour in which it was stopped at its CPU limit; 0 where nobody says so."""
        ...


class RecordedHours(Protocol):
    """Somebody else who has recorded what containers used. Raises `SourceUnavailableError`."""

    async def hours(
        self, keys: Collection[ContainerKey], *, begin: int, end: int
    ) -> Mapping[ContainerKey, Numbers]:
        """What the busiest pod used in steps of five minutes, by hours from the hour *begin* to *end*, of those that it
        knows; NaN: not known."""
        ...

    @property
    def dropped(self) -> Mapping[str, int]:
        """Samples that were left out so far, by reason."""
        ...


class HourlyComputing(Protocol):
    async def take(self, turns: Iterator[None]) -> None:
        """Go through *turns*, up to a tenth of a second of computing each, while others have theirs."""
        ...


class HourlyStore(Protocol):
    """Where points survive a restart of the brain. Raises `StoreUnavailableError`."""

    async def load(self) -> Mapping[ContainerKey, KeptHours]: ...

    async def save(
        self, kept: Mapping[ContainerKey, KeptHours], gone: Collection[ContainerKey]
    ) -> None:
        """Save *kept* in the place of what was there, and remove *gone*."""
        ...
