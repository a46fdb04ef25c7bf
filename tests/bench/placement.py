"""What scoring 5 000 nodes costs, and what it is good for.

The cost is from the bytes of a scheduler's question to those of the answer, in time of the CPU, and by the clock. What
it is good for is seen on 50 hollow nodes: real kube-schedulers place the same 400 pods, of which a part is replaced step by
step, by the default, by the scheduler's own packing, by the default with what admission adds, with our extender, and with it and moves, as of a descheduler.
"""

import asyncio
import json
import time

import msgspec
import numpy as np
from nemutator_controller.placement.documents import priorities
from nemutator_controller.placement.nodes_snapshot import NodeFacts, Workload, nodes_snapshot
from nemutator_controller.placement.pods import extender_question
from nemutator_controller.placement.scores import asked_scores

from tests.bench.frame import Result, aim
from tests.bench.hollow import reached
from tests.bench.placement_schedulers import ADMISSION, MOVING, Figures, filled
from tests.testbed.parts import control_plane
from tests.testbed.running.run import running

NODES, QUESTIONS = 5_000, 1_000
SCHEDULERS = ("default", "most-allocated", ADMISSION, "extender", MOVING)
SAMPLED = 500
"""A scheduler of a cluster of 5 000 nodes scores a tenth of them by default (percentageOfNodesToScore)."""


def bench() -> Result:
    dice = np.random.default_rng(5)
    workloads: list[Workload] = [("shop", "Deployment", f"w{n}") for n in range(200)]
    nodes = [
        NodeFacts(
            name=f"node-{number:05}",
            cpu_cores=16.0,
            memory_bytes=64e9,
            requested_cores=float(dice.uniform(0, 16)),
            requested_bytes=float(dice.uniform(0, 64e9)),
            used_cores=float(dice.uniform(0, 16)),
            used_bytes=float(dice.uniform(0, 64e9)),
            pods=int(dice.integers(0, 100)),
            aggressor=int(dice.integers(0, 5)),
        )
        for number in range(NODES)
    ]
    names = [one.name for one in nodes]
    spread = {
        key: {names[place]: 1 for place in dice.choice(NODES, 50).tolist()} for key in workloads
    }
    snapshot = nodes_snapshot(
        nodes, familiars=spread, talkers={}, aggressors={workloads[0]: 2}, taken_at=0.0
    )
    measured: dict[str, dict[str, float]] = {}
    for asked in (NODES, SAMPLED):
        took, waited = [], []
        for number in range(QUESTIONS):
            body = _question(workloads[number % 200][2], names[:asked])
            begin, since = time.thread_time(), time.perf_counter()
            found = extender_question(body)
            msgspec.json.encode(
                priorities(found.nodes, asked_scores(snapshot, found.pod, found.nodes))
            )
            took.append(1_000 * (time.thread_time() - begin))
            waited.append(1_000 * (time.perf_counter() - since))
        measured[f"{asked} of {NODES} nodes"] = {
            f"p{part}_ms{by}": round(float(np.percentile(several, part)), 2)
            for by, several in (("", took), ("_by_the_clock", waited))
            for part in (50, 95, 99)
        }
    compared = compare()
    default, ours = compared["default"], compared["extender"]
    measured["extender"] = ours
    return Result(
        measured=measured,
        peers={name: one for name, one in compared.items() if name != "extender"},
        aims=(
            aim(
                "p99 ms of CPU, all nodes asked",
                measured[f"{NODES} of {NODES} nodes"]["p99_ms"],
                "<=",
                5,
            ),
            aim(
                "p99 ms of CPU, a tenth asked",
                measured[f"{SAMPLED} of {NODES} nodes"]["p99_ms"],
                "<=",
                5,
            ),
            aim(
                "fewer node hours than the default, %",
                round(100 * (1 - ours["nodes_used"] / default["nodes_used"]), 1),
                ">=",
                20,
            ),
            aim(
                "hot nodes beyond those of the default",
                round(ours["hot_nodes"] - default["hot_nodes"], 3),
                "<=",
                0,
            ),
        ),
    )


def compare() -> dict[str, Figures]:
    async def each() -> dict[str, Figures]:
        async with reached(cluster) as transport:
            return {name: await filled(cluster, transport, name) for name in SCHEDULERS}

    with running() as run:
        cluster = control_plane.begin(run)
        return asyncio.run(each())


def _question(workload: str, names: list[str]) -> bytes:
    pod = {
        "metadata": {
            "namespace": "shop",
            "ownerReferences": [{"kind": "Deployment", "name": workload, "controller": True}],
        },
        "spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]},
    }
    return json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode()
