"""Who gives way when connections run out: one user's many may not keep another from calling."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from nemutator_common.serving.limits import Limits


class OpenConnection(Protocol):
    """A connection that is open."""

    @property
    def uid(self) -> int | None:
        """Whose it is; None where the kernel does not say."""
        ...


H = TypeVar("H", bound=OpenConnection)


def drop_candidates(uid: int | None, held: Collection[H], limits: Limits) -> Sequence[H] | None:
    """Those of *held* of which one must end before *uid* may have another, or None: there is room.

    Whoever has his share makes room among his own. When there is no room for anybody, whoever has
    most makes some, for those who have less.
    """
    if limits.connections_each is None:
        # Not counted by user: such a listener may hold tens of thousands.
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
    # With one more of his own, *uid* may not become the one who has most.
    return most if len(most) > len(own) + 1 else []
