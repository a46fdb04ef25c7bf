"""Outcomes that wait for the brain: in order, and few."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_common.wire import ProfileOutcome

MOST = 16
MOST_BYTES = 8 << 20
"""The limit of waiting profiles: two of the largest, or about eighty usual ones."""


@dataclass(eq=False, slots=True)
class Outbox:
    """First in, first out. While the brain is away for long, the oldest are dropped."""

    most: int = MOST
    most_bytes: int = MOST_BYTES
    _waiting: list[ProfileOutcome] = field(default_factory=list, init=False)

    def put(self, outcome: ProfileOutcome) -> Sequence[ProfileOutcome]:
        """Add *outcome*, and return those that were dropped for it.

        A waiting `running` of the same profile is replaced, which is not a drop.
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
        """Remove *outcome*, which may have been dropped meanwhile."""
        self._waiting = [one for one in self._waiting if one is not outcome]

    def __len__(self) -> int:
        return len(self._waiting)
