"""What neighbours need from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nemutator_controller.neighbours.labels import GradeLabels, LabelledObject
from nemutator_controller.neighbours.model import AskedAside, PlacedContainer, WantedAside
from nemutator_controller.neighbours.node_window import Key
from nemutator_controller.neighbours.week_grades import SavedWeek


class NeighbourPlaces(Protocol):
    def of_all(self, node: str, keys: Sequence[Key]) -> Sequence[PlacedContainer | None]:
        """Whose containers *node* speaks of, in their order; None: nobody knows, or it is no business of that node."""
        ...


class LabelledObjects(Protocol):
    """Pods, and workloads that nothing else makes."""

    def standing(
        self, wanted: Collection[LabelledObject]
    ) -> Mapping[LabelledObject, GradeLabels] | None:
        """What stands on those of *wanted* that are there, and on all that bear a grade; None while pods or
        workloads are not known."""
        ...

    async def write(self, one: LabelledObject, changes: Mapping[str, str | None]) -> None:
        """Change labels of its own metadata, None takes one away; one that is gone needs none. Raises
        `NotLabelledError`."""
        ...

    def notify(self, one: LabelledObject, note: str) -> None:
        """A warning, as an Event of the object."""
        ...


class WeekStore(Protocol):
    """Raises `StoreUnavailableError`."""

    async def load(self) -> Sequence[SavedWeek]: ...

    async def replace(self, weeks: Sequence[SavedWeek]) -> None:
        """Have *weeks* be all that is kept."""
        ...


class AsideSeason(Protocol):
    def aside(self) -> WantedAside | None:
        """None: no policy in force says so, or it cannot be told."""
        ...


class AsideEvictions(Protocol):
    """Evictions of others, with their budgets. `ask` and `cancel` raise `StoreUnavailableError`."""

    def why_not(self, uid: str) -> str:
        """Why that pod is not to be evicted for this; empty: it may be."""
        ...

    def waits(self, uid: str) -> bool: ...

    async def ask(self, uid: str, reason: str) -> str:
        """The id of the request; empty: it cannot be asked for now."""
        ...

    async def cancel(self, request: str) -> None: ...

    async def before(self, since: float) -> Sequence[AskedAside]:
        """Those that were asked for since then, by any brain, the oldest first. Raises `StoreUnavailableError`."""
        ...
