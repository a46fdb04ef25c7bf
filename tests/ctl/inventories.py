"""Answers of the brain's inventory, as small as they can be."""

from typing import Any

Raw = dict[str, Any]


def use(cpu: float | None, memory: float | None) -> Raw:
    return {"cpu_cores": cpu, "memory_bytes": memory}


UNKNOWN = use(None, None)
GI = 1 << 30


def pods(count: int = 2, ready: int = 1) -> Raw:
    return {"count": count, "ready": ready, "pending": 0, "unscheduled": 0}


def node(name: str, **more: Any) -> Raw:
    return {
        "name": name,
        "age_s": 3.2,
        "stale": False,
        "ready": True,
        "unschedulable": False,
        "allocatable": use(4.0, 8 * GI),
        "requested": use(1.0, 2 * GI),
        "limits": use(2.0, 4 * GI),
        "used": use(0.5, GI),
        "pods": pods(),
        "most_pods": 110,
        "conditions": [{"type": "Ready", "status": "True"}],
        "taints": [],
        **more,
    }


def nodes(*items: Raw) -> Raw:
    totals = {
        "nodes": len(items),
        "ready": 1,
        "stale": 1,
        "allocatable": use(8.0, 16 * GI),
        "requested": use(2.0, 4 * GI),
        "limits": use(4.0, 8 * GI),
        "used": use(1.0, 2 * GI),
        "pods": 4,
    }
    return {"items": list(items), "totals": totals}


def workload(name: str, **more: Any) -> Raw:
    return {
        "namespace": "shop",
        "kind": "Deployment",
        "name": name,
        "replicas": {"wanted": 3, "ready": 2, "pods": 2, "pending": 0},
        "strategy": "RollingUpdate",
        "requests": use(1.0, 2 * GI),
        "limits": use(2.0, 4 * GI),
        "use": {"now": use(0.3, GI), "usual": use(0.2, GI), "worst": UNKNOWN},
        "waste": UNKNOWN,
        "restarts": 4,
        "oom_ended": 1,
        "throttled": 0.25,
        "network": {"received": 20480.0, "sent": None},
        "nodes": 2,
        "autoscaler": {"min_replicas": 2, "max_replicas": 9},
        "vertical_autoscaler": "Off",
        "disruption_budget": {"name": "web", "disruptions_allowed": 1},
        "processes": None,
        **more,
    }


def sums() -> Raw:
    return {
        "pods": pods(),
        "requested": use(1.0, 2 * GI),
        "limits": use(2.0, 4 * GI),
        "used": use(0.3, GI),
        "restarts": 4,
        "oom_ended": 1,
    }


def workloads(*items: Raw, remaining: int = 0) -> Raw:
    totals = {"workloads": len(items), "sums": sums(), "waste": use(0.6, GI)}
    return {"items": list(items), "totals": totals, "remaining": remaining}


def namespaces(*names: str) -> Raw:
    items = [
        {
            "name": name,
            "workloads": 1,
            "sums": sums(),
            "waste": use(0.6, GI),
            "quotas": {"q": {"cpu": "3 of 10"}},
        }
        for name in names
    ]
    return {
        "items": items,
        "totals": {"workloads": len(items), "sums": sums(), "waste": use(0.6, GI)},
    }
