"""Pods that were scored by a snapshot which does not have them yet.

A wave of pods is scheduled within the age of one snapshot. If each were scored as if it were the first, all would be
sent to the same node. So each counts on the node that suited it best, until there is another snapshot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, Numbers, WantedPod
from nemutator_controller.placement.scores import worst_of


@dataclass(slots=True)
class Promises:
    _of: NodesSnapshot | None = field(default=None, init=False)
    _cores: Numbers = field(default_factory=lambda: np.zeros(0), init=False)
    _worst: Numbers = field(default_factory=lambda: np.zeros(0), init=False)
    _bytes: Numbers = field(default_factory=lambda: np.zeros(0), init=False)

    def with_those(self, snapshot: NodesSnapshot) -> NodesSnapshot:
        """*snapshot* as it is once all that was promised by it is there."""
        if snapshot is not self._of:
            self._of = snapshot
            self._cores, self._worst, self._bytes = np.zeros((3, len(snapshot.names)))
        columns = snapshot.columns
        return replace(
            snapshot,
            columns={
                **columns,
                "used_cores": columns["used_cores"] + self._cores,
                "worst_cores": columns["worst_cores"] + self._worst,
                "used_bytes": columns["used_bytes"] + self._bytes,
            },
        )

    def add(self, pod: WantedPod, asked: Sequence[str], scored: Sequence[float]) -> None:
        """*pod* goes where it was scored best, of the nodes of the last snapshot that was asked about."""
        if self._of is None or not asked:
            return
        place = self._of.places.get(asked[int(np.argmax(scored))])
        if place is not None:
            self._cores[place] += pod.cpu_cores
            self._worst[place] += worst_of(self._of, pod)
            self._bytes[place] += pod.memory_bytes
