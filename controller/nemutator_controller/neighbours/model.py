"""Who is a neighbour of whom, and how bad: what is shown, labelled and asked for."""

import enum
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import msgspec

from nemutator_controller.neighbours.resources import SCALES, Contended


class NeighbourRole(enum.StrEnum):
    VICTIM = "victim"
    AGGRESSOR = "aggressor"


class PlacedContainer(msgspec.Struct, frozen=True, gc=False):
    """Whose container it is, and where."""

    node: str
    namespace: str
    pod: str
    uid: str
    """Off clusters the path of the group."""
    container: str
    owner_kind: str
    owner: str

    @property
    def workload(self) -> "NeighbourWorkload":
        return NeighbourWorkload(self.namespace, self.owner_kind, self.owner)


class NeighbourWorkload(msgspec.Struct, frozen=True, gc=False, order=True):
    namespace: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class GradedTimes:
    """From 0 to 4; None: nobody can tell yet."""

    now: int | None
    """In the last five minutes."""
    usual: int | None
    """The median of seven days."""
    worst: int | None
    """What 99 of 100 minutes of seven days do not exceed."""

    @property
    def most(self) -> int:
        return max(self.now or 0, self.usual or 0, self.worst or 0)


NOT_GRADED = GradedTimes(None, None, None)


@dataclass(frozen=True, slots=True)
class NeighbourLink:
    """One pod suffers when another is busy."""

    victim: PlacedContainer
    aggressor: PlacedContainer
    resource: Contended
    correlation: float
    p: float
    lag_minutes: int
    minutes: int
    quiet: float
    busy: float

    def sentence(self, seen_from: str | None = None) -> str:
        """For people; whoever may see one namespace alone is not told who it is in another one."""

        def name(end: PlacedContainer) -> str:
            if seen_from in (None, end.namespace):
                return f"{end.namespace}/{end.pod}" if end.namespace else end.pod
            return "a pod of another namespace"

        busy, quiet = (self.resource.shown(one) for one in (self.busy, self.quiet))
        return (
            f"{name(self.victim)} {SCALES[self.resource].sentence} ({busy}, else {quiet})"
            f" when {name(self.aggressor)} is busy"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedNeighbour:
    """A pod, or a workload by the worst of its pods."""

    namespace: str
    kind: str
    """`Pod`, or the kind of the workload."""
    name: str
    uid: str = ""
    """Of a pod."""
    node: str = ""
    owner_kind: str = ""
    owner: str = ""
    grades: Mapping[NeighbourRole, GradedTimes]
    why: Mapping[NeighbourRole, str]
    """In words: whom and what it is about, or why nobody can tell."""
    why_within: Mapping[NeighbourRole, str]
    """The same for whoever may see its namespace alone."""
    containers: tuple[str, ...] = ()
    """Of a pod those that are in a link."""
    is_top: Mapping[NeighbourRole, bool] = field(default_factory=dict)
    """Whether it is among the worst of the cluster, which bear labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """All that is known at one moment."""

    at: float = 0.0
    """0: nobody has looked yet."""
    pods: tuple[GradedNeighbour, ...] = ()
    workloads: tuple[GradedNeighbour, ...] = ()
    links: tuple[NeighbourLink, ...] = ()
    containers: int = 0
    """That were looked at."""
    untold: Mapping[str, int] = field(default_factory=dict)
    """Containers of which nobody can tell, by the reason."""
    top: int = 0
    """How many of each role bear labels."""
    known_pods: AbstractSet[str] = frozenset()
    """The uids of the pods of which a verdict stands: on others labels stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAside:
    """What a SeasonPolicy that is in force says of aggressors."""

    policy: str
    grade: int
    """From which on they are kept aside."""
    evicts: bool
    """False: it is only said who would be evicted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsidePod:
    namespace: str
    name: str
    node: str
    grade: int
    state: str
    """planned, kept or evicting."""
    why: str
    """Of one that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAside:
    """A pod whose eviction was asked for, and that went or still may."""

    workload: NeighbourWorkload
    uid: str
    request: str
    at: float
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AsideState:
    policy: str = ""
    """Empty: no policy in force says anything of aggressors."""
    evicts: bool = False
    pods: tuple[AsidePod, ...] = ()


NOBODY_ASIDE = AsideState()
