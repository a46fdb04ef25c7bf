"""A roll of one workload, from the wish to its end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

RollState = Literal["waiting", "rolling", "held", "done", "stopped", "failed"]
"""waiting: its time has not come, or nothing was written yet. held: its time has ended in the middle.
stopped: a pod did not become ready in time, or somebody ended it. failed: it was never begun, or the
workload is gone."""

OPEN_ROLLS: frozenset[RollState] = frozenset({"waiting", "rolling", "held"})

LONGEST_ROLL_WHY = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledWorkload:
    namespace: str
    kind: Literal["Deployment", "StatefulSet", "DaemonSet"]
    name: str
    uid: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    id: str
    """It is also written into the template, which makes the pods new ones."""
    at: float
    by: str
    reason: str
    workload: RolledWorkload
    deadline_s: float
    """Within it each pod must become available."""
    window: str
    """Like `22:00-05:00`, in UTC; empty: at any time."""
    off_peak: bool = False
    """Only while its season is off-peak, or it has no seasons."""
    state: RollState = "waiting"
    strategy: tuple[Any, ...] = ()
    """The workload's own, remembered before it is changed; a tuple of none while nothing was changed."""
    progress: int = 0
    """New pods and available ones, as many as there were at once while `size` was the same."""
    size: int = 0
    """Pods that there should be, or that there were, whichever is more: an autoscaler changes it."""
    progress_at: float = 0.0
    why: str = ""

    def then(self, state: RollState, *, why: str = "") -> "Roll":
        return replace(self, state=state, why=why[:LONGEST_ROLL_WHY])

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_ROLLS


@dataclass(frozen=True, slots=True)
class LiveWorkload:
    """A workload as it is now."""

    workload: RolledWorkload
    document: Mapping[str, Any]
    version: str


class WorkloadGoneError(Exception):
    """There is no such workload."""


class WorkloadChangedError(Exception):
    """Somebody has written it since it was read: it has to be read again."""


class WorkloadRefusedError(Exception):
    """The API server refuses, and asking again does not help."""


class WorkloadUnreachableError(Exception):
    """The API server does not answer now."""
