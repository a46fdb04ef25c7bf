"""What one pod may take of the node, with all of its volumes together."""

from collections.abc import Collection
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from nemutator_agent.credentials.rate_limits import RateLimit, unattested_records

MOST_PODS = 512
"""Kubelet allows 110, and large nodes 250 and more."""

MOST_FURTHER = 256
"""Volumes of the node beyond the first of each pod, so that none of them takes the place of a pod."""

MOST_OF_ONE_POD = 16


@dataclass(eq=False, slots=True, weakref_slot=True)
class PodBudget:
    requests: RateLimit
    records: RateLimit = field(default_factory=unattested_records)
    """Of callers who are not let in."""


@dataclass(eq=False, slots=True)
class PodBudgets:
    """The budget of each pod, for as long as one of its volumes uses it."""

    rate: float
    """Requests a second of one pod."""
    _by_uid: WeakValueDictionary[str, PodBudget] = field(
        default_factory=WeakValueDictionary, init=False
    )

    def of(self, uid: str) -> PodBudget:
        budget = self._by_uid.get(uid)
        if budget is None:
            limit = RateLimit(rate=self.rate, burst=2 * self.rate)
            budget = self._by_uid[uid] = PodBudget(limit)
        return budget


def too_many_volumes(uid: str, served: Collection[str]) -> str | None:
    """Why the pod with *uid* gets no further volume, when each of *served* is the uid of one's pod."""
    own = sum(other == uid for other in served)
    pods = len(set(served))
    if not own:
        return f"no more than {MOST_PODS} pods are served" if pods >= MOST_PODS else None
    if own >= MOST_OF_ONE_POD:
        return f"no more than {MOST_OF_ONE_POD} volumes of one pod are served"
    if len(served) - pods >= MOST_FURTHER:
        return f"no more than {MOST_FURTHER} further volumes of one pod each are served"
    return None
