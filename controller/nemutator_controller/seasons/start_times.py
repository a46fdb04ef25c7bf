"""How long the pods of a workload take from their creation until they are ready: pure.

Scheduling, the pull of images, the start and the readiness probe are all in it. A peak has to be prepared for so long
before it begins.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nemutator_controller.seasons.day_book import CLUSTER, Scope

KEPT = 20
"""Of one workload, the newest."""
KEPT_OF_ALL = 200
LEAST = 3
"""Before so many were seen, nobody can tell."""
SHARE = 0.9
"""Of the pods that are ready within what is told."""
LONGEST_S = 14_400.0
"""Whoever takes longer waits for something else than its start."""


@dataclass(frozen=True, slots=True)
class SavedStarts:
    scope: Scope
    seconds: Sequence[float]
    """Oldest first."""


@dataclass(slots=True)
class StartTimes:
    most: int
    """Workloads; one more takes the place of that of which nothing was seen for longest."""
    _of: OrderedDict[Scope, deque[float]] = field(default_factory=OrderedDict, init=False)
    _changed: set[Scope] = field(default_factory=set, init=False)

    def add(self, scope: Scope, seconds: float) -> bool:
        """Count one start, for its workload and for all together; False: it is none that could be."""
        if not 0 <= seconds <= LONGEST_S:
            return False
        self._add(scope, seconds, KEPT)
        self._add(CLUSTER, seconds, KEPT_OF_ALL)
        return True

    def count(self, scope: Scope) -> int:
        return len(self._of.get(scope, ()))

    def ready_within_s(self, scope: Scope) -> float | None:
        """So long do nine of ten of its newest pods take; None: too few were seen."""
        seen = self._of.get(scope, ())
        if len(seen) < LEAST:
            return None
        return sorted(seen)[math.ceil(SHARE * len(seen)) - 1]

    def take_changed(self) -> tuple[list[SavedStarts], list[Scope]]:
        """What is to be saved, and whose starts are not kept any more."""
        changed, self._changed = self._changed, set()
        kept = [SavedStarts(one, tuple(self._of[one])) for one in sorted(changed & self._of.keys())]
        return kept, sorted(changed - self._of.keys())

    def give_back(self, kept: Iterable[SavedStarts], gone: Iterable[Scope]) -> None:
        """They could not be saved, and have to be taken once more."""
        self._changed |= {*(one.scope for one in kept), *gone}

    def restore(self, saved: Iterable[SavedStarts]) -> None:
        for one in saved:
            for seconds in one.seconds:
                if 0 <= seconds <= LONGEST_S:
                    self._add(one.scope, seconds, KEPT_OF_ALL if one.scope == CLUSTER else KEPT)
        self._changed = {scope for scope in self._changed if scope not in self._of}

    def _add(self, scope: Scope, seconds: float, kept: int) -> None:
        if scope not in self._of:
            self._of[scope] = deque(maxlen=kept)
        self._of[scope].append(seconds)
        self._of.move_to_end(scope)
        self._changed.add(scope)
        if CLUSTER in self._of:
            # Never the first to go.
            self._of.move_to_end(CLUSTER)
        while len(self._of) > self.most + 1:
            gone, _ = self._of.popitem(last=False)
            self._changed.add(gone)
