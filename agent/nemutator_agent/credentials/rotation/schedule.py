"""When each path in Vault is read again to see whether it has changed, within a budget for the node."""

from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple


class FollowedPath(NamedTuple):
    path: str
    vault_namespace: str = ""
    """Of those that follow it, where they name one."""


class DueCheck(NamedTuple):
    at: float
    path: FollowedPath


@dataclass(eq=False, slots=True)
class CheckSchedule:
    """The path that waits longest comes first. With n paths none is older than
    `1.25 * interval_s + n * 60 / per_minute` seconds, and no minute has more checks than `per_minute`.

    All times are of one clock that never runs backwards; a *roll* is in [0, 1).
    """

    _: KW_ONLY
    per_minute: float
    interval_s: float
    _due: dict[FollowedPath, float] = field(default_factory=dict, init=False)
    _not_before: float = field(default=0.0, init=False)

    def __len__(self) -> int:
        return len(self._due)

    def add(self, path: FollowedPath, now: float, *, roll: float) -> None:
        """It was read at *now*."""
        # Apart from the others: pods of one Deployment start together, on all nodes.
        self._due[path] = now + self.interval_s * (0.75 + 0.5 * roll)

    def remove(self, path: FollowedPath) -> None:
        self._due.pop(path, None)

    def next(self) -> DueCheck | None:
        """The next check, which may be due already; None when there is nothing to check."""
        if not self._due:
            return None
        path = min(self._due, key=self._due.__getitem__)
        return DueCheck(max(self._due[path], self._not_before), path)

    def begun(self, path: FollowedPath, now: float, *, roll: float) -> None:
        """*path* is being read again at *now*, which uses up a part of the budget."""
        self._not_before = now + 60.0 / self.per_minute
        self.add(path, now, roll=roll)
