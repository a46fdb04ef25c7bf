"""Pods that were scored by a snapshot which does not have them yet.

A wave of pods is scheduled within the age of one snapshot. If each were scored as if it were the first, all would be
sent to the same node. So each counts on the node that suited it best, until the snapshot after the next one: what was
bound a moment before a snapshot was taken may not be in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, Numbers, WantedPod
from nemutator_controller.placement.scores import worst_of

COUNTED = ("used_cores", "used_bytes", "worst_cores")


@dataclass(slots=True)
class Promises:
    _of: NodesSnapshot | None = field(default=None, init=False)
    _new: Numbers = field(default_factory=lambda: np.zeros((len(COUNTED), 0)), init=False)
    """By column and node: what was promised by this snapshot."""
    _old: Numbers = field(default_factory=lambda: np.zeros((len(COUNTED), 0)), init=False)
    """By the one before it."""

    def with_those(self, snapshot: NodesSnapshot) -> NodesSnapshot:
        """*snapshot* as it is once all that was promised lately is there."""
        before = self._of
        if snapshot is not before:
            shape = len(COUNTED), len(snapshot.names)
            is_same = before is not None and before.names == snapshot.names
            self._old = self._new if is_same else np.zeros(shape)
            self._of, self._new = snapshot, np.zeros(shape)
        promised = dict(zip(COUNTED, self._old + self._new, strict=True))
        columns = snapshot.columns
        counted = {name: columns[name] + several for name, several in promised.items()}
        return replace(snapshot, columns={**columns, **counted})

    def add(self, pod: WantedPod, asked: Sequence[str], scored: Sequence[float]) -> None:
        """*pod* goes where it was scored best, of the nodes of the last snapshot that was asked about."""
        if self._of is None or not asked:
            return
        place = self._of.places.get(asked[int(np.argmax(scored))])
        if place is not None:
            self._new[:, place] += pod.cpu_cores, pod.memory_bytes, worst_of(self._of, pod)
