"""What scoring 5 000 nodes costs: from the bytes of a scheduler's question to those of the answer, in time of
the CPU: what else runs on the machine is no matter of ours."""

import json
import time

import msgspec
import numpy as np
from nemutator_controller.placement.documents import priorities
from nemutator_controller.placement.nodes_snapshot import NodeFacts, Workload, nodes_snapshot
from nemutator_controller.placement.pods import extender_question
from nemutator_controller.placement.scores import asked_scores

from tests.bench.frame import Result, aim

NODES, QUESTIONS = 5_000, 1_000
SAMPLED = 500
"""A scheduler of a cluster of 5 000 nodes scores a tenth of them by default (percentageOfNodesToScore)."""

NOT_YET = (
    "not built: default and extender beside each other on hollow nodes with the real kube-scheduler"
)


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
    measured = {}
    for asked in (NODES, SAMPLED):
        took = []
        for number in range(QUESTIONS):
            body = _question(workloads[number % 200][2], names[:asked])
            begin = time.thread_time()
            found = extender_question(body)
            msgspec.json.encode(
                priorities(found.nodes, asked_scores(snapshot, found.pod, found.nodes))
            )
            took.append(1_000 * (time.thread_time() - begin))
        measured[f"{asked} of {NODES} nodes"] = {
            f"p{part}_ms": round(float(np.percentile(took, part)), 2) for part in (50, 95, 99)
        }
    return Result(
        measured=measured,
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
            aim("fewer node hours than the default, %", None, ">=", 20, reason=NOT_YET),
        ),
    )


def _question(workload: str, names: list[str]) -> bytes:
    pod = {
        "metadata": {
            "namespace": "shop",
            "ownerReferences": [{"kind": "Deployment", "name": workload, "controller": True}],
        },
        "spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]},
    }
    return json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode()
