"""Who wants what on nodes: grades of pressure and of placement, and a reserve that is closed until a season opens it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nemutator_common import names

from nemutator_controller.hysteresis import HeldGrades
from nemutator_controller.node_marks.marks import (
    NEVER,
    NO_MARKS,
    MarkedNode,
    NodeMarks,
    NodeTaint,
)
from nemutator_controller.node_marks.pressure import NodePressures

GRADES = 5


@dataclass(frozen=True, slots=True)
class PressureMarks:
    """A taint with the grade as its value, from 1 to 4."""

    pressures: NodePressures
    keys: frozenset[str] = frozenset({str(names.PRESSURE)})

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        grade = self.pressures.grade(node.name)
        if grade is None:
            return None
        key = str(names.PRESSURE)
        return NodeMarks({key: NodeTaint(key, str(grade))}) if grade else NO_MARKS


@dataclass(slots=True)
class PlacementMarks:
    """A label with the grade of the node for a pod of no special workload, from 1 to 4."""

    keys: frozenset[str] = frozenset({str(names.PLACEMENT_GRADE)})
    _held: HeldGrades[str] = field(default_factory=HeldGrades, init=False)
    _known: frozenset[str] = field(default=frozenset(), init=False)

    def see(self, scores: Mapping[str, float]) -> None:
        """*scores* of nodes from 0 to 1, by name."""
        self._held.assess({name: score * GRADES for name, score in scores.items()})
        self._known = frozenset(scores)
        for gone in [name for name in self._held if name not in scores]:
            self._held.forget(gone)

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        if node.name not in self._known:
            return None
        grade = self._held.grade(node.name)
        return NodeMarks(labels={str(names.PLACEMENT_GRADE): str(grade)}) if grade else NO_MARKS


@dataclass(frozen=True, slots=True)
class ReserveMarks:
    """A taint that keeps pods away from the nodes of the reserve, but for those that fill it."""

    is_reserve: Callable[[Mapping[str, str]], bool]
    """Whether labels are those of a node of the reserve."""
    is_open: Callable[[], bool | None]
    """None: it cannot be told."""
    keys: frozenset[str] = frozenset({str(names.RESERVE)})

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        is_open = self.is_open()
        if is_open is None:
            return None
        key = str(names.RESERVE)
        if is_open or not self.is_reserve(node.labels):
            return NO_MARKS
        return NodeMarks({key: NodeTaint(key, "", NEVER)})
