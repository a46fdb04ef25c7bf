"""Who gives way when connections run out: one user's many may not keep another from calling."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from nemutator_common.serving.limits import Limits


class Held(Protocol):
    """A connection that is open."""

    @property
    def uid(self) -> int | None:
        """Whose it is; None where the kernel does not say."""
        ...


H = TypeVar("H", bound=Held)


def crowd(uid: int | None, held: Iterable[H], limits: Limits) -> Sequence[H] | None:
    """Those of *held* of which one must end before *uid* may have another, or None: there is room.

    Whoever has his share makes room among his own. When there is no room for anybody, whoever has
    most makes some, for those who have less.
    """
    users: dict[int | None, list[H]] = defaultdict(list)
    total = 0
    for one in held:
        users[one.uid].append(one)
        total += 1
    own = users[uid]
    if limits.connections_each is not None and len(own) >= limits.connections_each:
        return own
    if total < limits.connections:
        return None
    most = max(users.values(), key=len)
    # With one more of his own, *uid* may not become the one who has most.
    return most if limits.connections_each is not None and len(most) > len(own) + 1 else []
