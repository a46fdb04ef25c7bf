"""What oversell needs from others."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.oversell.model import SoundOversell
from nemutator_controller.oversell.observed_nodes import ObservedNode


class WrittenStatus(Protocol):
    """What somebody writes into the status of a node, or what stands there before."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def annotations(self) -> Mapping[str, str]: ...

    @property
    def capacity(self) -> Mapping[str, str]: ...

    @property
    def allocatable(self) -> Mapping[str, str]: ...


class OversellPolicies(Protocol):
    def sound(self) -> Sequence[SoundOversell] | None:
        """By name; None: they are not known yet."""
        ...

    def faulty(self) -> Mapping[str, str]: ...


class ObservedNodes(Protocol):
    async def now(self, *, counted_within_s: float) -> Sequence[ObservedNode] | None:
        """None: they are not known yet. What their pods request and usually use may have been counted so long ago."""
        ...

    async def write(self, node: ObservedNode, ratio: int | None) -> bool:
        """Have *ratio* stand there, or nothing of ours, and then what its kubelet has. False: it has changed meanwhile.
        Raises `NodeRefusedError`."""
        ...

    def notify(self, node: ObservedNode, note: str) -> None:
        """A warning, as an Event of the node."""
        ...


class SeasonCeiling(Protocol):
    def ceiling(self) -> int | None:
        """Hundredths that the SeasonPolicies in force allow; None: they do not say. Raises `CeilingUnknownError`."""
        ...


class OversellJournal(Protocol):
    """Raises `StoreUnavailableError`."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]: ...
