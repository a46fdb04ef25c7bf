"""Which connection ends when they run out: one user with many may not lock out another."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from nemutator_common.serving.limits import Limits


class OpenConnection(Protocol):
    """A connection that is open."""

    @property
    def uid(self) -> int | None:
        """The user of the peer; None where the kernel does not report it."""
        ...


H = TypeVar("H", bound=OpenConnection)


@dataclass(eq=False, slots=True, weakref_slot=True)
class HeldConnections(Generic[H]):
    """What callers hold of one listener, or of several that have one limit together."""

    # In the order in which they were accepted: of two that became idle at the same time (a loop's
    # clock may count milliseconds) the older one is dropped.
    open: dict[H, None] = field(default_factory=dict)
    refusals: int = 0
    """Callers who are just told that there are too many."""


def drop_candidates(uid: int | None, held: Collection[H], limits: Limits) -> Sequence[H] | None:
    """Those of *held* of which one must end before *uid* may have another; None if there is room.

    A user who has a full share loses one of their own. When there is no room for anybody, the user
    with the most connections loses one to those who have fewer.
    """
    if limits.connections_each is None:
        # Connections are not counted by user here: such a listener may have tens of thousands.
        return None if len(held) < limits.connections else []
    users: dict[int | None, list[H]] = defaultdict(list)
    for one in held:
        users[one.uid].append(one)
    own = users[uid]
    if len(own) >= limits.connections_each:
        return own
    if len(held) < limits.connections:
        return None
    most = max(users.values(), key=len)
    # With one more connection, *uid* may not become the user who has the most.
    return most if len(most) > len(own) + 1 else []
