"""Pods as those who size them see them, and what was advised for them: data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Side
from nemutator_controller.mutations.skips import Skips

NO_SKIPS = Skips()

ResourceName = Literal["cpu", "memory"]
RESOURCES: tuple[ResourceName, ...] = ("cpu", "memory")

ResizeState = Literal["", "Deferred", "Infeasible", "InProgress", "Error"]
"""What kubelet says of the last resize; empty: it is done, or there was none."""

SizedWorkload = tuple[str, str, str]
"""Namespace, kind and name of what makes the pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedContainer:
    name: str
    requests: Mapping[str, Quantity] = field(default_factory=dict)
    limits: Mapping[str, Quantity] = field(default_factory=dict)
    restarted_by: frozenset[str] = frozenset()
    """Resources whose change restarts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPod:
    """A pod that runs, and is to go on."""

    namespace: str
    name: str
    uid: str
    node: str
    workload: SizedWorkload
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    created_at: float
    containers: tuple[SizedContainer, ...]
    beside: Mapping[ResourceName, Quantity] = field(default_factory=dict)
    """What its sidecars request together with these, and what its RuntimeClass adds."""
    starting: Mapping[ResourceName, Quantity] = field(default_factory=dict)
    """What it requests in all, at most, until its init containers have ended."""
    manifest: Mapping[str, Any] = field(compare=False)
    """At least the resources of all its containers, as its class is found from them."""
    stamp: str = ""
    """The text of its stamp; empty: it has none."""
    skips: Skips = NO_SKIPS
    state: ResizeState = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSurroundings:
    """What the cluster says around one pod."""

    autoscaled: frozenset[str] = frozenset()
    vertical_autoscaler: str = ""
    node: Mapping[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountAdvice:
    """Of one resource of one container: what it should request."""

    target: Quantity
    lower: Quantity | None = None
    upper: Quantity | None = None
    """A request within these is good enough; None: nobody says so."""
    hourly: str = ""
    """The strategy that says so for this hour; empty: it is advice, which stands for weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerAdvice:
    is_firm: bool
    reason: str
    """Why there is no value, or why it is not firm."""
    last_at: float
    """When the container was last seen."""
    amounts: Mapping[ResourceName, AmountAdvice]
    strategy: str = ""
    not_hourly: str = ""
    """Why advice holds although the policy follows use hourly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyAmount:
    """What one container should request in this hour."""

    strategy: str
    target: Quantity | None
    """None: the reason says why there is none."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAmount:
    """One field of one container that is to change."""

    container: str
    side: Side
    resource: ResourceName
    before: Quantity
    after: Quantity
    reason: str

    @property
    def path(self) -> str:
        return f"containers[name={self.container}].resources.{self.side}.{self.resource}"


@dataclass(frozen=True, slots=True)
class ResizeInPlace:
    changes: tuple[GivenAmount, ...]

    @property
    def raises(self) -> bool:
        return any(each.after > each.before for each in self.changes)


@dataclass(frozen=True, slots=True)
class LeaveAlone:
    """Nothing is to be done until something else changes."""

    reason: str
    is_good: bool = False
    """Whether the pod has what it should have."""


@dataclass(frozen=True, slots=True)
class WaitFirst:
    """Something is to be done, and not now."""

    reason: str
    was_refused: bool = False
    """Whether that is because the API server has refused it."""


@dataclass(frozen=True, slots=True)
class MoveElsewhere:
    """Its node is too small for what is advised; another one may not be."""

    reason: str
    needs: Mapping[ResourceName, Quantity]
    """What the pod would request."""
    meanwhile: ResizeInPlace | LeaveAlone
    """What can be done where it is."""


SizingDecision = ResizeInPlace | LeaveAlone | WaitFirst | MoveElsewhere


class PodChangedError(Exception):
    """Somebody has written the pod since it was read."""


class NotResizedError(Exception):
    """It stays as it is; the message says why. *again*: only for now. *for_new*: a new pod of that size would be
    refused as well, as a quota does."""

    def __init__(self, what: str, *, again: bool, for_new: bool = False) -> None:
        super().__init__(what)
        self.again = again
        self.for_new = for_new
