"""Nodes with what is free of them, pods with what keeps them where they are, and what is planned: data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


class PackingUnknownError(Exception):
    """What is on a node cannot be known now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackNode:
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    cpu_millis: int
    """That pods can have of it together."""
    memory_bytes: int
    most_pods: int = 110
    requested_cpu: int = 0
    requested_memory: int = 0
    limited_cpu: int = 0
    """What its pods may use together: by their limits, or by what they request where they have none."""
    limited_memory: int = 0
    pods: int = 0
    used_share: float | None = None
    """Of its CPU, in real use; None: not known."""
    takes_none: str = ""
    """Why no pod may be sent there; empty: some may."""
    kept: str = ""
    """Why it is not emptied, as far as that is known without looking into it."""
    is_marked: bool = False
    """Whether it bears the taint of a node that is emptied."""

    @property
    def share(self) -> float:
        """How much of it is requested, of that of which more is; 1: nobody knows what it has."""
        if self.cpu_millis <= 0 or self.memory_bytes <= 0:
            return 1.0
        return max(self.requested_cpu / self.cpu_millis, self.requested_memory / self.memory_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackPod:
    namespace: str
    name: str
    uid: str
    cpu_millis: int = 0
    memory_bytes: int = 0
    limit_cpu: int = 0
    """That it may use; what it requests, where there is no limit."""
    limit_memory: int = 0
    node_selector: Mapping[str, str] = field(default_factory=dict)
    stays: str = ""
    """Why it may not be moved; empty: it may."""
    waits: str = ""
    """Why it may not be moved at this moment, though it may be soon; empty: it may."""
    goes_along: bool = False
    """Whether it is there because the node is, and goes with it."""
    gives_way: bool = False
    """Whether it needs no other place: it keeps room free."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OversellCeiling:
    """How much pods of a node may use together, in what it has for them; None: as much as they like."""

    cpu: float | None = None
    memory: float | None = None


NO_CEILING = OversellCeiling()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContents:
    pods: tuple[PackPod, ...]
    kept: str = ""
    """Why it is not emptied, as the node itself says."""


@dataclass(frozen=True, slots=True)
class PlannedMove:
    pod: PackPod
    to: str
    """A node that has room for it; the scheduler may choose another one. Empty: it needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    node: str
    share: float
    moves: tuple[PlannedMove, ...] = ()
    why_not: str = ""
    """Empty: it can be emptied."""
    is_unknown: bool = False
    """Whether nobody can tell what is on it now."""


EmptyingState = Literal["emptying", "removable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptiedNode:
    node: str
    since: float
    state: EmptyingState = "emptying"
    request: str = ""
    """Of evictions."""
    asked: int = 0
    """How many times evictions were asked for: pods may come back."""
    why: str = ""
