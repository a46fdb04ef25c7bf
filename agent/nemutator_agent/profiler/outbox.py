"""Outcomes that wait for the brain: in order, and never more than a little."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_common.wire import ProfileOutcome

MOST = 16
MOST_BYTES = 8 << 20
"""The limit of waiting profiles: two of the largest, or some eighty usual ones."""


@dataclass(eq=False, slots=True)
class Outbox:
    """First in, first out. A brain that is away for long costs the oldest."""

    most: int = MOST
    most_bytes: int = MOST_BYTES
    _waiting: list[ProfileOutcome] = field(default_factory=list, init=False)

    def put(self, outcome: ProfileOutcome) -> Sequence[ProfileOutcome]:
        """Take *outcome* in; those that had to make room are answered.

        An end makes its `running` needless: that goes without a word.
        """
        self._waiting = [
            one for one in self._waiting if one.id != outcome.id or one.state != "running"
        ]
        self._waiting.append(outcome)
        dropped = []
        while len(self._waiting) > 1 and (
            len(self._waiting) > self.most
            or sum(len(one.pprof) for one in self._waiting) > self.most_bytes
        ):
            dropped.append(self._waiting.pop(0))
        return dropped

    def first(self) -> ProfileOutcome | None:
        return self._waiting[0] if self._waiting else None

    def forget(self, outcome: ProfileOutcome) -> None:
        """It need not wait any more. It may have made room meanwhile."""
        self._waiting = [one for one in self._waiting if one is not outcome]

    def __len__(self) -> int:
        return len(self._waiting)
