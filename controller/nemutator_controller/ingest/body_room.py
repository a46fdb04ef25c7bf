"""How much memory the bodies of requests may take, all together and of each caller."""

from collections import Counter
from dataclasses import dataclass, field

LARGEST_TOTAL = 256 << 20
"""Of bodies that are on their way, or wait to be stored: a thousand reports after an outage."""

LARGEST_EACH = 16 << 20
"""Of one caller: two batches of the largest size. A node that sends more has something else in mind."""


class NoRoomError(Exception):
    """There is no memory for more of this body now."""


@dataclass(eq=False, slots=True)
class BodyRoom:
    """Nobody waits for it: a body that finds no room is refused, and its sender comes again later. So
    no sender who stops in the middle holds up another."""

    total: int = LARGEST_TOTAL
    each: int = LARGEST_EACH
    _taken: int = field(init=False, default=0)
    _by_caller: Counter[str] = field(init=False, default_factory=Counter)

    def take(self, caller: str, size: int) -> None:
        """Raises NoRoomError, and takes nothing."""
        if self._taken + size > self.total or self._by_caller[caller] + size > self.each:
            raise NoRoomError
        self._taken += size
        self._by_caller[caller] += size

    def give_back(self, caller: str, size: int) -> None:
        self._taken -= size
        self._by_caller[caller] -= size
        if not self._by_caller[caller]:
            del self._by_caller[caller]


@dataclass(eq=False, slots=True)
class BodyLease:
    """What one request has of it, until its end."""

    room: BodyRoom
    caller: str
    size: int = 0

    def take(self, size: int) -> None:
        self.room.take(self.caller, size)
        self.size += size

    def end(self) -> None:
        self.room.give_back(self.caller, self.size)
        self.size = 0
