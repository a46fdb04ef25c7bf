"""Pods that were scored by a snapshot which does not have them yet.

A wave of pods is scheduled within the age of one snapshot. If each were scored as if it were the first, all would be
sent to the same node. So each counts on the node that suited it best, and on the one that it was bound to as soon as
that is seen, until a snapshot has it: on a busy control plane that takes longer than the next snapshots do. One that
is asked about again counts once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, Numbers, WantedPod
from nemutator_controller.placement.scores import worst_of

COUNTED = ("used_cores", "used_bytes", "worst_cores", "pods")

KEPT_S = 60.0
"""After so long a pod that no snapshot has was not bound, or is gone."""

UNKNOWN_S = 6.0
"""After so long a pod that nobody knows is gone, or was never there: whoever asks may have invented it."""

MOST = 10_000
"""Schedulers bind some hundred pods in a second; of more those promised first are forgotten."""

LOOKED_UP = 64
"""Pods whose nodes are looked up for one question: the others' turn comes with the next ones."""


def _nowhere(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class _Promise:
    node: str
    amounts: tuple[float, float, float, float]
    at: float


@dataclass(slots=True)
class Promises:
    node_of: Callable[[str], str | None] = _nowhere
    """By a pod's uid; empty: it has not been seen on one yet; None: nobody knows the pod."""
    _of: NodesSnapshot | None = field(default=None, init=False)
    _made: dict[str, _Promise] = field(default_factory=dict, init=False)
    """By the uid of its pod, the oldest first."""
    _unbound: dict[str, None] = field(default_factory=dict, init=False)
    """Uids of those that nobody has seen on a node, the next to be looked up first."""
    _sums: Numbers = field(default_factory=lambda: np.zeros((len(COUNTED), 0)), init=False)
    """By column and node of the last snapshot."""
    _nameless: int = field(default=0, init=False)

    def __len__(self) -> int:
        return len(self._made)

    def with_those(self, snapshot: NodesSnapshot, uid: str = "") -> NodesSnapshot:
        """*snapshot* as it is once all that was promised lately is there, but for the pod of this *uid*."""
        if snapshot is not self._of:
            self._begin(snapshot)
        self._take_back(uid)
        self._follow()
        columns = snapshot.columns
        promised = zip(COUNTED, self._sums, strict=True)
        counted = {name: columns[name] + several for name, several in promised}
        return replace(snapshot, columns={**columns, **counted})

    def add(
        self, pod: WantedPod, asked: Sequence[str], scored: Sequence[float], uid: str = ""
    ) -> None:
        """*pod* goes where it was scored best, of the nodes of the last snapshot that was asked about."""
        if self._of is None or not asked:
            return
        node = asked[int(np.argmax(scored))]
        if node not in self._of.places:
            return
        if not uid:
            self._nameless += 1
        # No uid begins with a blank.
        key = uid or f" {self._nameless}"
        self._take_back(key)
        if uid:
            self._unbound[uid] = None
        while len(self._made) >= MOST:
            self._take_back(next(iter(self._made)))
        amounts = pod.cpu_cores, pod.memory_bytes, worst_of(self._of, pod), 1.0
        self._made[key] = made = _Promise(node, amounts, self._of.taken_at)
        self._count(made, 1)

    def _begin(self, snapshot: NodesSnapshot) -> None:
        self._of = snapshot
        self._made = {
            uid: one
            for uid, one in self._made.items()
            if uid not in snapshot.bound and abs(snapshot.taken_at - one.at) < KEPT_S
        }
        self._sums = np.zeros((len(COUNTED), len(snapshot.names)))
        self._unbound = {uid: None for uid in self._unbound if uid in self._made}
        for one in self._made.values():
            self._count(one, 1)

    def _follow(self) -> None:
        """Those that were bound elsewhere count there."""
        for uid in list(islice(self._unbound, LOOKED_UP)):
            del self._unbound[uid]
            one, node = self._made[uid], self.node_of(uid)
            if not node:
                self._unbound[uid] = None
                if node is None and self._age(one) >= UNKNOWN_S:
                    self._take_back(uid)
            elif node != one.node:
                self._count(one, -1)
                self._made[uid] = moved = replace(one, node=node)
                self._count(moved, 1)

    def _age(self, one: _Promise) -> float:
        return 0.0 if self._of is None else self._of.taken_at - one.at

    def _take_back(self, uid: str) -> None:
        self._unbound.pop(uid, None)
        if (one := self._made.pop(uid, None)) is not None:
            self._count(one, -1)

    def _count(self, one: _Promise, times: int) -> None:
        place = None if self._of is None else self._of.places.get(one.node)
        if place is not None:
            self._sums[:, place] += np.multiply(one.amounts, times)
