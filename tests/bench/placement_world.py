"""A small cluster for schedulers to fill: which pods come and go at which step, and what they truly use. Pure.

What a pod uses has little to do with what it requests, as in real clusters: half of it in the middle, of a few
workloads far more than all of it. It comes and goes with the steps, each workload at its own time.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, pi, sin

from nemutator_controller.packing.model import NodeContents, PackNode, PackPod
from nemutator_controller.packing.plans import candidates, plan_of
from nemutator_controller.placement.nodes_snapshot import NodeFacts, NodesSnapshot, nodes_snapshot

from tests.hollow import nodes
from tests.hollow.plan import Life, Plan

FILLING, STEADY = 16, 12
"""Steps in which the cluster is filled, and in which a part of its pods is replaced."""
REPLACED = 0.05
DAY = 8
"""Steps after which everything repeats."""
HOT = 0.8
"""Of a node's CPU in use: its pods begin to wait."""
MIB = float(1 << 20)

Placed = Mapping[Life, str]


@dataclass(frozen=True)
class World:
    plan: Plan

    @cached_property
    def capacity(self) -> Mapping[str, tuple[float, float]]:
        """Cores and bytes of each node."""
        found = {}
        for number, name in enumerate(self.plan.node_names):
            room = nodes.node_status(self.plan, number, ready_since=0.0, now=0.0)["allocatable"]
            found[name] = int(room["cpu"][:-1]) / 1000, int(room["memory"][:-2]) * 1024 * MIB
        return found

    def steps(self) -> Iterator[tuple[list[Life], list[Life]]]:
        """Who ends, and who comes."""
        dice = random.Random(f"{self.plan.seed}/steps")
        waiting = list(self.plan.lives())
        dice.shuffle(waiting)
        each = -(-len(waiting) // FILLING)
        there: list[Life] = []
        for step in range(FILLING):
            come = waiting[step * each : (step + 1) * each]
            there += come
            yield [], come
        for _ in range(STEADY):
            ends = dice.sample(there, round(REPLACED * len(there)))
            come = [one.next for one in ends]
            there = [one for one in there if one not in set(ends)] + come
            yield ends, come

    def use(self, life: Life, step: int) -> tuple[float, float]:
        """Cores and bytes."""
        dice = random.Random(f"{self.plan.seed}/use/{life.workload.number}")
        part = min(max(exp(dice.gauss(-0.6, 0.8)), 0.05), 2.5)
        phase, held = dice.random(), dice.uniform(0.3, 0.95)
        cores, size = requests(life)
        wave = 1 + 0.5 * sin(2 * pi * (step / DAY + phase))
        return cores * part * wave, size * held

    @cached_property
    def worst(self) -> Mapping[int, float]:
        """Cores of one pod of each workload in its busiest step: it has been seen for days before."""
        return {
            one.number: max(self.use(Life(one, 0), step)[0] for step in range(DAY))
            for one in self.plan.workloads
        }

    def used(self, placed: Placed, step: int) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for life, node in placed.items():
            cores, size = self.use(life, step)
            found[node] = found[node][0] + cores, found[node][1] + size
        return found

    def talkers(self) -> Mapping[int, int]:
        """With which workload each talks: every second one with the one before it."""
        count = len(self.plan.workloads)
        pairs = [(number, number - 1) for number in range(1, count, 2)]
        return {one: other for pair in pairs for one, other in (pair, pair[::-1])}

    def snapshot(
        self, placed: Placed, known: Placed, step: int, *, bound: Collection[str], now: float
    ) -> NodesSnapshot:
        """As the brain has it: of pods that have come in this step what they request is known, and not what they use.
        *bound*: the uids of those that are *placed*."""
        asked: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        familiars: dict[int, Counter[str]] = defaultdict(Counter)
        pods: Counter[str] = Counter(placed.values())
        for life, node in placed.items():
            cores, size = requests(life)
            asked[node] = asked[node][0] + cores, asked[node][1] + size
            familiars[life.workload.number][node] += 1
        used = self.used(known, step)
        worst: dict[str, float] = defaultdict(float)
        for life, node in placed.items():
            worst[node] += self.worst[life.workload.number]
        whose = {one.number: (one.namespace, "Deployment", one.name) for one in self.plan.workloads}
        return nodes_snapshot(
            [
                NodeFacts(
                    name=name,
                    cpu_cores=cores,
                    memory_bytes=size,
                    requested_cores=asked[name][0],
                    requested_bytes=asked[name][1],
                    used_cores=used[name][0],
                    used_bytes=used[name][1],
                    worst_cores=worst[name],
                    pods=pods[name],
                )
                for name, (cores, size) in self.capacity.items()
            ],
            familiars={whose[number]: counts for number, counts in familiars.items()},
            talkers={
                whose[one]: {node: 1e6 * count for node, count in familiars[other].items()}
                for one, other in self.talkers().items()
            },
            peers={whose[one]: {whose[other]: 1e6} for one, other in self.talkers().items()},
            labels={whose[one.number]: one.selector for one in self.plan.workloads},
            aggressors={},
            worst={whose[number]: cores for number, cores in self.worst.items()},
            bound=bound,
            taken_at=now,
        )

    def to_move(self, placed: Placed, step: int) -> list[Life]:
        """The pods of the emptiest node that can be emptied, by the plan of packing; none where there is no such node."""
        by_node: dict[str, list[Life]] = defaultdict(list)
        for life, name in placed.items():
            by_node[name].append(life)
        used = self.used(placed, step)
        there = []
        for name, (cores, size) in self.capacity.items():
            asked = [requests(life) for life in by_node[name]]
            there.append(
                PackNode(
                    name=name,
                    cpu_millis=round(1000 * cores),
                    memory_bytes=round(size),
                    requested_cpu=round(1000 * sum(one for one, _ in asked)),
                    requested_memory=round(sum(one for _, one in asked)),
                    pods=len(asked),
                    used_share=used[name][0] / cores,
                )
            )
        for node in candidates(one for one in there if one.pods):
            lives = {life.name: life for life in by_node[node.name]}
            contents = NodeContents(pods=tuple(map(_pack_pod, lives.values())))
            others = [one for one in there if one.name != node.name]
            if moves := plan_of(node, contents, others).moves:
                return [lives[move.pod.name] for move in moves]
        return []

    def figures(self, placed: Placed, step: int) -> dict[str, float]:
        """Of one step."""
        used = self.used(placed, step)
        by_workload: dict[int, Counter[str]] = defaultdict(Counter)
        for life, node in placed.items():
            by_workload[life.workload.number][node] += 1
        together = [
            max(counts.values()) / counts.total()
            for counts in by_workload.values()
            if counts.total() > 1
        ]
        across = [
            1.0 - sum(one[node] * other[node] for node in one) / (one.total() * other.total())
            for number, peer in self.talkers().items()
            if (one := by_workload[number]).total() and (other := by_workload[peer]).total()
        ]
        return {
            "nodes_used": len(set(placed.values())),
            "hot_nodes": sum(used[name][0] > HOT * room[0] for name, room in self.capacity.items()),
            "largest_part_of_a_workload_on_one_node": sum(together) / len(together),
            "traffic_across_nodes": sum(across) / len(across),
        }


def _pack_pod(life: Life) -> PackPod:
    cores, size = requests(life)
    return PackPod(
        namespace=life.workload.namespace,
        name=life.name,
        uid=life.name,
        cpu_millis=round(1000 * cores),
        memory_bytes=round(size),
    )


def requests(life: Life) -> tuple[float, float]:
    containers = life.workload.shape.containers
    return (
        sum(one.cpu_millis for one in containers) / 1000,
        sum(one.memory_mib for one in containers) * MIB,
    )
