"""What a brain answers to the console's page of nodes, workloads, flows, and a workload's history."""

import time
from typing import Any

from tests.fakes.console_brain import FakeBrain, Json
from tests.fakes.console_lists import advice

ROWS = "/api/v1/history/workloads"
WORKLOADS = "/api/v1/workloads"
HISTORY = f"{WORKLOADS}/shop/Deployment/api/history"


def used(cpu: float | None = None, memory: int | None = None) -> Json:
    return {"cpu_cores": cpu, "memory_bytes": memory}


def cluster_node(**changed: Any) -> Json:
    return {
        "name": "worker-1",
        "seen_at": time.time() - 3,
        "age_s": 3.0,
        "stale": False,
        "sums": {"waiting": {"cpu": 1.5, "memory": 0.0, "io": 12.0}},
        "ready": True,
        "unschedulable": False,
        "allocatable": used(4.0, 8 << 30),
        "requested": used(3.0, 4 << 30),
        "used": used(0.5, 2 << 30),
        "pods": {"count": 12, "ready": 11, "pending": 1, "unscheduled": 0},
        "most_pods": 110,
        **changed,
    }


def workload_item(**changed: Any) -> Json:
    return {
        "namespace": "shop",
        "kind": "Deployment",
        "name": "api",
        "replicas": {"wanted": 3, "ready": 2, "pods": 3, "pending": 1, "unscheduled": 1},
        "requests": used(3.0, 3 << 30),
        "limits": used(None, 6 << 30),
        "use": {"now": used(0.4, 1 << 30), "usual": used(0.3, 1 << 30), "worst": used()},
        "waste": used(2.5, 2 << 30),
        "restarts": 4,
        "oom_ended": 2,
        "throttled": 0.25,
        "waiting": {"cpu": 31.0, "memory": 0.0, "io": None},
        "network": {"received": 2048.0, "sent": None},
        "processes": None,
        **changed,
    }


def flow_end(kind: str, name: str, **changed: Any) -> Json:
    return {
        "kind": kind,
        "namespace": "",
        "name": name,
        "owner_kind": "",
        "owner": "",
        "address": "10.0.0.9",
        **changed,
    }


def flow(**changed: Any) -> Json:
    pod = flow_end("Pod", "api-0", namespace="shop", owner_kind="Deployment", owner="api")
    return {
        "node": "worker-1",
        "pod": pod,
        "peer": flow_end("Service", "db", namespace="data"),
        "direction": "out",
        "protocol": "tcp",
        "port": 5432,
        "received": 4096.0,
        "sent": 100.0,
        "connections": 7,
        "from_at": time.time() - 90,
        "to_at": time.time() - 30,
        **changed,
    }


def row(container: str = "app", **changed: Any) -> Json:
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "api",
        "container": container,
        "heard_at": time.time(),
        **changed,
    }


def history(**changed: Any) -> Json:
    """Six minutes of two pods, of which one is not known."""
    cpu = [0.2, 0.4, None, 0.6, 0.4, 0.2]
    memory = [None if one is None else int(one * (1 << 30)) for one in cpu]

    def measures(values: list[Any]) -> Json:
        return dict.fromkeys(("mean", "low", "high", "most"), values)

    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "api",
        "container": "app",
        "from_at": 1_760_000_040,
        "step_s": 60,
        "steps": 6,
        "pods": [2.0, 2.0, None, 2.0, 2.0, 2.0],
        "figures": {"cpu_cores": measures(cpu), "memory_bytes": measures(memory)},
        "window": {
            "cpu_cores": {"mean": 0.36, "low": 0.2, "high": 0.6, "most": 0.6},
            "memory_bytes": {"mean": 300 << 20, "low": 200 << 20, "high": 600 << 20, "most": None},
        },
        "week": {
            "minutes": [60.0] * 168,
            "figures": {
                "cpu_cores": {
                    name: [share] * 168
                    for name, share in {"p25": 0.2, "median": 0.3, "p75": 0.5, "p95": 0.6}.items()
                }
            },
        },
        **changed,
    }


def know_workload(brain: FakeBrain) -> None:
    """It knows a workload with two containers, of which one is advised on."""
    brain.lists[ROWS] = [row(), row("proxy")]
    brain.documents[HISTORY] = history()
    brain.lists["/api/v1/advice"] = [advice(requests_now={"cpu": "250m", "memory": str(1 << 30)})]
    brain.lists[WORKLOADS] = [workload_item()]
