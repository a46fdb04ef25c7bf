"""Which fields somebody else keeps taking away from us, and how long each is left alone: pure.

Another controller that owns an object's metadata as a whole removes our value with our stamp, so that the
object looks as if we had never seen it. Both would write for ever. A field that has been reverted so often is
left alone for its workload, and tried again after a wait that grows while the first try is reverted, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_controller.following.records import Workload
from nemutator_controller.mutations.decisions import Edit, Maybe
from nemutator_controller.mutations.edits import same

REVERTS = 3
WITHIN_S = 600.0
"""So many within this time are a dispute, and no person who corrects something by hand."""

FIRST_WAIT_S = 300.0
LONGEST_WAIT_S = 6 * 3600.0

MOST_WRITES = 20_000
"""Fields that are remembered as written; of the others nobody would know that they were reverted."""

MOST_DISPUTED = 1_000


@dataclass(frozen=True, slots=True)
class DisputedField:
    """A field that is left alone from now on."""

    path: str
    wait_s: float
    is_new: bool
    """Whether it has not been before: who is responsible has to hear of it."""


@dataclass(slots=True)
class _Write:
    after: Maybe
    reverted_at: list[float] = field(default_factory=list)
    """The last times."""
    is_there: bool = True
    """Whether it has not been seen as reverted yet."""


@dataclass(slots=True)
class _Wait:
    until: float
    wait_s: float
    is_over: bool = False
    """Whether `end_waits` has said so."""


@dataclass(slots=True)
class RevertedWrites:
    _writes: dict[tuple[str, str], _Write] = field(default_factory=dict, init=False)
    """By the pod's uid and the path; the oldest first."""
    _waits: dict[tuple[Workload, str], _Wait] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        """Fields that are left alone now."""
        return sum(not wait.is_over for wait in self._waits.values())

    def wrote(self, uid: str, edits: Sequence[Edit]) -> None:
        """Remember that the pod has all *edits* now."""
        for edit in edits:
            key = uid, edit.path
            known = self._writes.pop(key, None)
            if known is None or not same(known.after, edit.after):
                known = _Write(edit.after)
            known.is_there = True
            self._writes[key] = known
        while len(self._writes) > MOST_WRITES:
            del self._writes[next(iter(self._writes))]

    def left_alone(self, workload: Workload) -> frozenset[str]:
        """Paths."""
        if not self._waits:
            return frozenset()
        return frozenset(
            path
            for (owner, path), wait in self._waits.items()
            if owner == workload and not wait.is_over
        )

    def disputed(
        self, workload: Workload, uid: str, edits: Sequence[Edit], now: float
    ) -> Sequence[DisputedField]:
        """Of *edits*, which are to be made at *now*, those that are to be left alone instead."""
        found = [
            self._wait(workload, edit.path, now)
            for edit in edits
            if self._is_disputed(workload, uid, edit, now)
        ]
        while len(self._waits) > MOST_DISPUTED:
            del self._waits[next(iter(self._waits))]
        return found

    def end_waits(self, now: float) -> bool:
        """Whether fields may be tried again from now on that were left alone before."""
        ended = False
        for key, wait in list(self._waits.items()):
            if not wait.is_over and wait.until <= now:
                wait.is_over = ended = True
            elif wait.is_over and wait.until + WITHIN_S <= now:
                # Nobody has reverted it again.
                del self._waits[key]
        return ended

    def _is_disputed(self, workload: Workload, uid: str, edit: Edit, now: float) -> bool:
        known = self._writes.get((uid, edit.path))
        if known is None or not known.is_there or not same(known.after, edit.after):
            return False
        known.is_there = False
        known.reverted_at = [at for at in known.reverted_at if at > now - WITHIN_S][-REVERTS:]
        known.reverted_at.append(now)
        return len(known.reverted_at) >= REVERTS or (workload, edit.path) in self._waits

    def _wait(self, workload: Workload, path: str, now: float) -> DisputedField:
        before = self._waits.pop((workload, path), None)
        wait_s = FIRST_WAIT_S if before is None else min(LONGEST_WAIT_S, 2 * before.wait_s)
        self._waits[workload, path] = _Wait(now + wait_s, wait_s)
        return DisputedField(path, wait_s, is_new=before is None)
