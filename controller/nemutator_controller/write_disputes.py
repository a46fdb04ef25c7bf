"""What somebody else keeps changing, like labels and taints: each is left alone for a while, and for longer each time.

Both would write for ever otherwise. It counts as changed by others only what has been seen to stand as we had
written it: until the watch has shown that, nobody knows.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
"""What names an object."""

REVERTS = 3
WITHIN_S = 600.0
FIRST_WAIT_S = 300.0
LONGEST_WAIT_S = 6 * 3600.0
MOST_WRITES = 20_000


@dataclass(slots=True)
class _Written:
    value: str | None
    was_seen: bool = False
    reverted_at: list[float] = field(default_factory=list)
    left_until: float = 0.0
    wait_s: float = 0.0


@dataclass(slots=True)
class WriteDisputes(Generic[T]):
    _written: dict[tuple[T, str], _Written] = field(default_factory=dict, init=False)
    """The oldest first."""

    def wrote(self, one: T, key: str, value: str | None) -> None:
        known = self._written.pop((one, key), None) or _Written(value)
        known.value, known.was_seen = value, False
        self._written[one, key] = known
        while len(self._written) > MOST_WRITES:
            del self._written[next(iter(self._written))]

    def see(self, one: T, key: str, value: str | None, *, now: float) -> bool:
        """Say that *value* stands there at *now*; whether a wait begins for the first time."""
        known = self._written.get((one, key))
        if known is None:
            return False
        if value == known.value:
            known.was_seen = True
            return False
        if not known.was_seen:
            return False
        known.was_seen = False
        known.reverted_at = [at for at in known.reverted_at if at > now - WITHIN_S] + [now]
        if len(known.reverted_at) < REVERTS and not known.wait_s:
            return False
        is_first = not known.wait_s
        known.wait_s = min(LONGEST_WAIT_S, 2 * known.wait_s or FIRST_WAIT_S)
        known.left_until = now + known.wait_s
        return is_first

    def is_left_alone(self, one: T, key: str, *, now: float) -> bool:
        known = self._written.get((one, key))
        return known is not None and now < known.left_until

    def left_alone(self, *, now: float) -> int:
        return sum(now < known.left_until for known in self._written.values())
