"""What neighbours need from others."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from nemutator_controller.neighbours.labels import GradeLabels, LabelledObject
from nemutator_controller.neighbours.model import PlacedContainer
from nemutator_controller.neighbours.node_window import Key
from nemutator_controller.neighbours.week_grades import SavedWeek


class NeighbourPlaces(Protocol):
    def of(self, node: str, key: Key) -> PlacedContainer | None:
        """Whose container *node* speaks of; None: nobody knows, or it is no business of that node."""
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
