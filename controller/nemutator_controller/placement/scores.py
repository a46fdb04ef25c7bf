"""How well each node suits a pod: one sum of factors, each from 0 to 1 and with its reason in words.

The curve of CPU and memory is that of load-aware packing (Trimaran's TargetLoadPacking): it rises to the target, so that
pods come together, and falls steeply behind it, so that nothing gets hot.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nemutator_controller.placement.nodes_snapshot import (
    NodeFacts,
    NodesSnapshot,
    Numbers,
    WantedPod,
)

CPU_TARGET, MEMORY_TARGET = 0.60, 0.75
"""Of what pods can have, in real use. Memory cannot be taken back, and does not burst as CPU does."""

SPREAD_TARGET = 0.35
"""Before and in a peak: room for what comes counts more than nodes that could be saved."""

COOL, HOT = 0.60, 0.75
"""Of a node's CPU, if all of its pods are busy at once: up to the one nothing speaks against it, from the other on nothing
for it. What packs by the use of now would meet the rest of it in the next peak."""

SPREADING = frozenset({"pre-peak", "peak", "surprise"})

UNKNOWN = 0.5
"""Of a factor of which nothing is known: neither for a node nor against it."""

MOST_GRADE = 4

LEAST = 1e-3
"""Of a core or a byte: a node with less takes nothing."""


@dataclass(frozen=True, slots=True)
class PlacementFactor:
    name: str
    weight: float


CPU = PlacementFactor("cpu", 3.0)
MEMORY = PlacementFactor("memory", 2.0)
FAMILIARS = PlacementFactor("familiars", 2.0)
TALKERS = PlacementFactor("talkers", 1.0)
EMPTY = PlacementFactor("empty", 1.5)
SHAPE = PlacementFactor("shape", 1.0)
NEIGHBOURS = PlacementFactor("neighbours", 2.0)
HEAT = PlacementFactor("heat", 8.0)
FACTORS = (CPU, MEMORY, FAMILIARS, TALKERS, EMPTY, SHAPE, NEIGHBOURS, HEAT)


@dataclass(frozen=True, slots=True)
class FactorScore:
    factor: PlacementFactor
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class NodeScore:
    node: str
    score: float
    """From 0 to 1."""
    factors: tuple[FactorScore, ...]


def scores(snapshot: NodesSnapshot, pod: WantedPod) -> Numbers:
    """Of all nodes of *snapshot* from 0 to 1."""
    parts = _parts(snapshot, pod)
    total = np.zeros(len(snapshot.names))
    for factor, values in parts.items():
        total += factor.weight * values
    found: Numbers = total / sum(factor.weight for factor in FACTORS)
    return found


def asked_scores(snapshot: NodesSnapshot, pod: WantedPod, asked: Sequence[str]) -> list[float]:
    """Of the nodes *asked* for, in their order; one that is not known has the middle of those that are."""
    every = scores(snapshot, pod)
    get = snapshot.places.get
    places = np.array([get(name, -1) for name in asked], dtype=np.intp)
    is_known = places >= 0
    middle = float(np.median(every[places[is_known]])) if is_known.any() else UNKNOWN
    found = np.full(len(places), middle)
    found[is_known] = every[places[is_known]]
    result: list[float] = found.tolist()
    return result


def explained(snapshot: NodesSnapshot, pod: WantedPod, *, most: int = 20) -> list[NodeScore]:
    """The best *most* nodes, the best first, each with the reasons."""
    parts = _parts(snapshot, pod)
    every = scores(snapshot, pod)
    order = np.argsort(-every, kind="stable")[:most].tolist()
    return [
        NodeScore(
            snapshot.names[place],
            round(float(every[place]), 4),
            tuple(
                FactorScore(
                    factor,
                    round(float(values[place]), 3),
                    _WORDS[factor](snapshot, pod, place),
                )
                for factor, values in parts.items()
            ),
        )
        for place in order
    ]


def _parts(snapshot: NodesSnapshot, pod: WantedPod) -> dict[PlacementFactor, Numbers]:
    columns = snapshot.columns
    spreads = snapshot.season_of(pod.workload) in SPREADING
    cpu = _share(columns["used_cores"] + pod.cpu_cores, columns["cpu_cores"])
    memory = _share(columns["used_bytes"] + pod.memory_bytes, columns["memory_bytes"])
    familiars = _column(snapshot, snapshot.familiars.get(pod.workload, {}))
    talking = _column(snapshot, snapshot.talkers.get(pod.workload, {}))
    most = talking.max(initial=0.0)
    grade = columns["aggressor"]
    if snapshot.aggressors.get(pod.workload, 0):
        # Who is in others' way goes where nobody suffers already.
        grade = np.maximum(grade, columns["victim"])
    return {
        CPU: _packed(cpu, SPREAD_TARGET if spreads else CPU_TARGET),
        MEMORY: _packed(memory, SPREAD_TARGET if spreads else MEMORY_TARGET),
        FAMILIARS: 1.0 / (1.0 + familiars * (2.0 if spreads else 1.0)),
        TALKERS: talking / most if most > 0 else np.zeros(len(talking)),
        EMPTY: np.where(columns["pods"] > 0, 1.0, 1.0 if spreads else 0.0),
        SHAPE: _balance(columns, pod),
        NEIGHBOURS: 1.0 - grade / MOST_GRADE,
        HEAT: _cool(_share(columns["worst_cores"] + worst_of(snapshot, pod), columns["cpu_cores"])),
    }


def worst_of(snapshot: NodesSnapshot, pod: WantedPod) -> float:
    """Cores that it uses when it is busy: as others of its workload do, or else what it requests."""
    return snapshot.worst.get(pod.workload, pod.cpu_cores)


def _cool(share: Numbers) -> Numbers:
    found = np.clip((HOT - share) / (HOT - COOL), 0.0, 1.0)
    result: Numbers = np.where(np.isnan(share), UNKNOWN, found)
    return result


def _packed(share: Numbers, target: float) -> Numbers:
    """Rises from the target's own share to 1 at the target, and falls to 0 where all is in use."""
    rising = (1 - target) * share / target + target
    falling = target * (1 - share) / (1 - target)
    found = np.where(share <= target, rising, falling)
    result: Numbers = np.where(np.isnan(share), UNKNOWN, np.clip(found, 0.0, 1.0))
    return result


def _balance(columns: Mapping[str, Numbers], pod: WantedPod) -> Numbers:
    """Whether CPU and memory are left in the same shares once the pod is there: the free shape."""
    cpu = _share(columns["requested_cores"] + pod.cpu_cores, columns["cpu_cores"])
    memory = _share(columns["requested_bytes"] + pod.memory_bytes, columns["memory_bytes"])
    found = 1.0 - np.abs(np.clip(cpu, 0, 1) - np.clip(memory, 0, 1))
    result: Numbers = np.where(np.isnan(found), UNKNOWN, found)
    return result


def _share(part: Numbers, whole: Numbers) -> Numbers:
    found: Numbers = np.full(len(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > LEAST)
    return found


def _column(snapshot: NodesSnapshot, found: Mapping[int, float]) -> Numbers:
    column = np.zeros(len(snapshot.names))
    for place, value in found.items():
        column[place] = value
    return column


def _use(used: float | None, wanted: float, there: float, what: str) -> str:
    if used is None or there <= 0:
        return f"how much {what} it uses is not known"
    return f"with it {100 * (used + wanted) / there:.0f} % of its {what} would be in use"


def _cpu(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    node = snapshot.facts[place]
    return _use(node.used_cores, pod.cpu_cores, node.cpu_cores, "CPU")


def _memory(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    node = snapshot.facts[place]
    return _use(node.used_bytes, pod.memory_bytes, node.memory_bytes, "memory")


def _familiars(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    count = snapshot.familiars.get(pod.workload, {}).get(place, 0)
    if not count:
        return "no other pod of its workload is there"
    return f"{count} {'pod' if count == 1 else 'pods'} of its workload {'is' if count == 1 else 'are'} there"


def _talkers(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    talking = snapshot.talkers.get(pod.workload, {}).get(place, 0.0)
    if not talking:
        return "nobody there is known to talk to it"
    return f"its workload exchanges {talking / 1e6:.2f} MB/s with pods there"


def _empty(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    return "it is in use anyway" if snapshot.facts[place].pods else "it is empty, and could stay so"


def _shape(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    node: NodeFacts = snapshot.facts[place]
    if node.cpu_cores <= 0 or node.memory_bytes <= 0:
        return "what it can take is not known"
    cpu = 100 * (node.requested_cores + pod.cpu_cores) / node.cpu_cores
    memory = 100 * (node.requested_bytes + pod.memory_bytes) / node.memory_bytes
    return f"with it {cpu:.0f} % of its CPU and {memory:.0f} % of its memory would be requested"


def _neighbours(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    node = snapshot.facts[place]
    if node.victim and snapshot.aggressors.get(pod.workload, 0):
        return f"a pod there suffers by grade {node.victim}, and others suffer from its workload"
    if node.aggressor:
        return f"others suffer from a pod there by grade {node.aggressor}"
    return "nobody there is known to be in others' way"


def _heat(snapshot: NodesSnapshot, pod: WantedPod, place: int) -> str:
    node = snapshot.facts[place]
    if node.worst_cores is None or node.cpu_cores <= 0:
        return "how much its pods use when they are busy is not known"
    share = 100 * (node.worst_cores + worst_of(snapshot, pod)) / node.cpu_cores
    return f"with it {share:.0f} % of its CPU would be in use if all there are busy at once"


_WORDS: dict[PlacementFactor, Callable[[NodesSnapshot, WantedPod, int], str]] = {
    CPU: _cpu,
    MEMORY: _memory,
    FAMILIARS: _familiars,
    TALKERS: _talkers,
    EMPTY: _empty,
    SHAPE: _shape,
    NEIGHBOURS: _neighbours,
    HEAT: _heat,
}
