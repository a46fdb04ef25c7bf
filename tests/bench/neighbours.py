"""How well planted aggressors are found among innocent pods, on 200 nodes; what it costs; and what their victims gain
once they are gone. The nodes are of `tests/fakes/planted_neighbours.py`: what a pod truly does to others is what
they suffer less when it does nothing."""

import statistics
import time
from collections import Counter
from itertools import cycle

import numpy as np
from nemutator_controller.neighbours.links import assess
from nemutator_controller.neighbours.resources import Contended

from tests.bench.frame import Result, aim
from tests.fakes.planted_neighbours import PlantedNode, harmed, planted_node

NODES = 200
SEED = 90_000
MINUTES = 59
PLANTED = (*Contended, None, None, None)
"""Five of eight nodes have an aggressor; three have none."""

HARMLESS, HARMFUL = 0.5, 1.0
"""In parts of what grade 1 takes. Between the two neither answer is wrong: whoever is found does harm, and whoever does
not even that is not missed."""
SURELY = 1.5
"""A victim that suffers so much is missed if it is not found."""


def bench() -> Result:
    aggressors: Counter[str] = Counter()
    victims: Counter[str] = Counter()
    by_resource: dict[str, Counter[str]] = {str(one): Counter() for one in Contended}
    took_ms: list[float] = []
    gains: list[float] = []
    for number, resource in zip(range(NODES), cycle(PLANTED), strict=False):
        seed = SEED + number
        node = planted_node(seed, resource, minutes=MINUTES)
        begin = time.perf_counter()
        links = assess(node.values).links
        took_ms.append(1_000 * (time.perf_counter() - begin))
        found = {one.aggressor for one in links}
        for row in found | node.aggressors:
            harm = harmed(seed, resource, row, minutes=MINUTES)
            answer = _answer(row in found, max(harm.values()), HARMFUL)
            aggressors[answer] += 1
            if row in node.aggressors:
                by_resource[str(resource)][answer] += 1
                suffering = {one.victim for one in links if one.aggressor == row}
                for victim, part in harm.items():
                    victims[_answer(victim in suffering, part, SURELY)] += 1
                gains += _gains(seed, node, row, suffering)
    rates = {"aggressors": _rates(aggressors), "victims": _rates(victims)}
    return Result(
        measured={
            "nodes": NODES,
            "pods": 30 * NODES,
            "aggressors": dict(aggressors),
            "victims": dict(victims),
            "by resource": {name: dict(counted) for name, counted in by_resource.items()},
            "rates": rates,
            "ms for a node, median": round(statistics.median(took_ms), 1),
            "ms for a node, 95th percentile": round(float(np.quantile(took_ms, 0.95)), 1),
            "latency of victims at p85, times that without their aggressor, median": round(
                statistics.median(gains), 2
            ),
        },
        aims=(
            aim("precision of aggressors", rates["aggressors"]["precision"], ">=", 0.9),
            aim("recall of aggressors", rates["aggressors"]["recall"], ">=", 0.9),
            aim("precision of victims", rates["victims"]["precision"], ">=", 0.9),
            aim("recall of victims", rates["victims"]["recall"], ">=", 0.9),
            aim("latency of victims before, times after", statistics.median(gains), ">=", 1.1),
        ),
    )


def _answer(is_found: bool, harm: float, surely: float) -> str:
    if is_found:
        return "right" if harm >= HARMLESS else "wrong"
    return "missed" if harm >= surely else "rightly left out"


def _rates(counted: Counter[str]) -> dict[str, float]:
    right = counted["right"]
    return {
        "precision": round(right / max(right + counted["wrong"], 1), 3),
        "recall": round(right / max(right + counted["missed"], 1), 3),
    }


def _gains(seed: int, node: PlantedNode, row: int, victims: set[int]) -> list[float]:
    away = planted_node(seed, node.resource, minutes=MINUTES, quiet=frozenset({row}))
    before = np.quantile(node.latency, 0.85, axis=1)
    after = np.quantile(away.latency, 0.85, axis=1)
    return [float(before[victim] / after[victim]) for victim in sorted(victims)]
