"""The nodes of one moment, as columns: what placing a pod depends on, and nothing else."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

Workload = tuple[str, str, str]
"""Namespace, kind and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One node; None is what is not known."""

    name: str
    cpu_cores: float
    """What pods can have of it together."""
    memory_bytes: float
    requested_cores: float = 0.0
    requested_bytes: float = 0.0
    used_cores: float | None = None
    used_bytes: float | None = None
    worst_cores: float | None = None
    """What its pods use together when each of them is busy, by what is known of days; None: not known."""
    pods: int = 0
    """Without those that each node has."""
    aggressor: int = 0
    """The highest grade of a pod on it, now."""
    victim: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPod:
    workload: Workload
    cpu_cores: float = 0.0
    """That it requests."""
    memory_bytes: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class NodesSnapshot:
    names: Sequence[str]
    places: Mapping[str, int]
    facts: Sequence[NodeFacts]
    columns: Mapping[str, Numbers]
    familiars: Mapping[Workload, Mapping[int, int]] = field(default_factory=dict)
    """How many pods of a workload there are, by the node's place."""
    talkers: Mapping[Workload, Mapping[int, float]] = field(default_factory=dict)
    """Bytes per second that a workload exchanges with pods there."""
    peers: Mapping[Workload, Mapping[Workload, float]] = field(default_factory=dict)
    """Bytes per second that a workload exchanges with one pod of another, in the mean: in the sum over the pods on a node
    that is what `talkers` has."""
    labels: Mapping[Workload, Mapping[str, str]] = field(default_factory=dict)
    """Which all pods of a workload have, of those that talk."""
    aggressors: Mapping[Workload, int] = field(default_factory=dict)
    """The grades of workloads from which others suffer."""
    worst: Mapping[Workload, float] = field(default_factory=dict)
    """Cores that one pod of a workload uses when it is busy, of those of which it is known."""
    season: str = ""
    """Of the cluster; empty: it is not known."""
    seasons: Mapping[Workload, str] = field(default_factory=dict)
    """Of workloads that have one of their own."""
    bound: Collection[str] = frozenset()
    """The uids of the pods that are counted on nodes."""
    taken_at: float = 0.0

    def season_of(self, workload: Workload) -> str:
        return self.seasons.get(workload, self.season)


COLUMNS = (
    "cpu_cores",
    "memory_bytes",
    "requested_cores",
    "requested_bytes",
    "used_cores",
    "used_bytes",
    "worst_cores",
    "pods",
    "aggressor",
    "victim",
)


def nodes_snapshot(
    nodes: Sequence[NodeFacts],
    *,
    familiars: Mapping[Workload, Mapping[str, int]],
    talkers: Mapping[Workload, Mapping[str, float]],
    aggressors: Mapping[Workload, int],
    taken_at: float,
    worst: Mapping[Workload, float] | None = None,
    season: str = "",
    seasons: Mapping[Workload, str] | None = None,
    bound: Collection[str] = frozenset(),
    peers: Mapping[Workload, Mapping[Workload, float]] | None = None,
    labels: Mapping[Workload, Mapping[str, str]] | None = None,
) -> NodesSnapshot:
    """*familiars* and *talkers* by the names of nodes; those of other nodes are left out."""
    places = {node.name: place for place, node in enumerate(nodes)}

    def placed(found: Mapping[str, float]) -> dict[int, float]:
        return {places[name]: value for name, value in found.items() if name in places}

    return NodesSnapshot(
        names=[node.name for node in nodes],
        places=places,
        facts=nodes,
        columns={
            name: np.array(
                [np.nan if (value := getattr(node, name)) is None else value for node in nodes],
                dtype=np.float64,
            )
            for name in COLUMNS
        },
        familiars={
            key: {place: int(value) for place, value in placed(found).items()}
            for key, found in familiars.items()
        },
        talkers={key: placed(found) for key, found in talkers.items()},
        peers=peers or {},
        labels=labels or {},
        aggressors=aggressors,
        worst=worst or {},
        season=season,
        seasons=seasons or {},
        bound=bound,
        taken_at=taken_at,
    )
