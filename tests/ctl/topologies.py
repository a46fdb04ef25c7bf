"""Answers of the brain to `/api/v1/topology` and `/api/v1/nodes`, as small as they can be."""

from collections.abc import Sequence
from typing import Any

Raw = dict[str, Any]


def workload(path: str) -> Raw:
    return {
        "path": path,
        "name": path,
        "kind": "slice",
        "cpu_cores": 0.25,
        "cpu_is_summed": False,
        "memory_bytes": 3 << 20,
        "pressures": {"cpu": {"some_10s": 1.5}, "memory": None, "io": None},
    }


def process(pid: int, path: str) -> Raw:
    return {
        "pid": pid,
        "workload": path,
        "command": "app",
        "script": None,
        "cpu_cores": None,
        "memory_bytes": 1 << 20,
        "runtime": None,
        "runtime_version": None,
    }


def document(
    *, workloads: Sequence[Raw], processes: Sequence[Raw], missing: Sequence[Raw] = ()
) -> Raw:
    machine = {
        "kernel": "6.18",
        "cpus": 2,
        "cpu_cores": 0.5,
        "memory_bytes": 8 << 30,
        "memory_used_bytes": 1 << 30,
        "pressures": {"cpu": {"some_10s": 2.0}, "memory": {"some_10s": 0.0}, "io": None},
    }
    node = {
        "name": "one",
        "stale": False,
        "age_s": 1.2,
        "machine": machine,
        "namespaces": ["a", "b"],
        "workloads": list(workloads),
        "processes": list(processes),
        "missing": list(missing),
    }
    return {"nodes": [node]}


def listing(*names: str) -> Raw:
    return {"items": [_listed(name) for name in names]}


def _listed(name: str) -> Raw:
    sums = {
        "kernel": "6.18",
        "cpus": 2,
        "cpu_cores": 0.5,
        "memory_bytes": 8 << 30,
        "memory_used_bytes": 1 << 30,
        "waiting": {"cpu": 2.0, "memory": 0.0, "io": None},
        "workloads": 3,
        "processes": 42,
        "missing": 0,
    }
    return {"name": name, "seen_at": 1.0, "age_s": 3.2, "stale": False, "sums": sums}
