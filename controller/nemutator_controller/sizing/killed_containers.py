"""Containers that kubelet says were killed for memory."""

from dataclasses import dataclass

from nemutator_controller.sizing.keys import ContainerKey

MOST = 10_000
"""Containers of which the last kill is remembered; of the oldest, one is noted twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KilledContainer:
    key: ContainerKey
    pod_uid: str
    at: float
    """When its last run ended."""
    requested: float
    """Bytes of memory; its limit counts, too, as far as it was killed there."""


class NotedKills:
    """Which kills are known already: a pod's status says the last one of each container for as long as it runs."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known: dict[tuple[str, str], float] = {}

    def is_new(self, one: KilledContainer) -> bool:
        """Whether it was not asked about before."""
        which = one.pod_uid, one.key.container
        if self._known.get(which) == one.at:
            return False
        self._known.pop(which, None)
        self._known[which] = one.at
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return True
