"""Pods as those who evict them see them, and what becomes of the wish to be rid of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

EvictionState = Literal[
    "queued", "waits", "evicting", "evicted", "gone", "failed", "expired", "cancelled"
]
"""waits: a PodDisruptionBudget or a budget of ours does not allow it now. evicting: the API server is
asked, or was when the brain ended. gone: it ended without us. failed: the API server refuses for good."""

OPEN: frozenset[EvictionState] = frozenset({"queued", "waits", "evicting"})

LONGEST_WHY = 300


@dataclass(frozen=True, slots=True)
class OwningWorkload:
    """The owner that makes a new pod for one that ends."""

    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class EvictablePod:
    """A pod that is there, and is to go on."""

    namespace: str
    name: str
    uid: str
    node: str
    workload: OwningWorkload | None
    """None: nobody would make another one."""
    is_ready: bool
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionRequest:
    """Pods that somebody wants evicted, all for one reason."""

    id: str
    at: float
    until: float
    """What has not happened by then does not happen."""
    by: str
    """Who asked: the name of a user of the cluster, or `local`."""
    reason: str
    selection: str
    """What was asked for, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedEviction:
    """One pod of a request, and what became of it."""

    request: str
    pod: EvictablePod
    """As it was when it was asked for, without its labels."""
    state: EvictionState
    at: float
    """The moment of the state."""
    why: str = ""

    def then(self, state: EvictionState, *, at: float, why: str = "") -> "RequestedEviction":
        return replace(self, state=state, at=at, why=why[:LONGEST_WHY])


class NotEvictedError(Exception):
    """It goes on for now; the message says why."""


class NotAllowedNowError(NotEvictedError):
    """A PodDisruptionBudget does not allow it."""


class EvictionRefusedError(NotEvictedError):
    """The API server refuses, and asking again does not help."""


class PodGoneError(Exception):
    """There is nothing to evict any more."""
