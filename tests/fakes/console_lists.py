"""Items of the lists that a brain answers to the console's page."""

import time
from typing import Any

from tests.fakes.console_brain import Json


def profile(**changed: Any) -> Json:
    return {
        "id": "a1",
        "title": "shop/api-0",
        "state": "done",
        "reason": "",
        "remedy": "",
        "asked_at": time.time() - 5,
        "seconds": 30,
        "hz": 99,
        "recorded": 297,
        "lost": {"no stack": 2},
        "cpu_seconds": 3.01,
        "notes": ["Go 1.26"],
        "grade": {
            "rooted": 290,
            "broken": {"cgo": 7},
            "calls": {"direct": 999, "wrong": 1},
            "summary": "97.6 % of stacks reach their root; 99.9 % of calls are real calls in the code",
            "breaks": "2.4 % end in C of a Go program",
        },
        **changed,
    }


def profile_target(**changed: Any) -> Json:
    return {
        "kind": "pid",
        "value": "7",
        "target": "pid:7",
        "node": "edge-1",
        "name": "shop",
        "within": "shop.service",
        "runtime": "go",
        "runtime_version": "go1.26.8",
        "age_s": 7300,
        "cpu_cores": 0.25,
        "memory_bytes": 9 << 20,
        "processes": 1,
        **changed,
    }


def mutation(**changed: Any) -> Json:
    edit = {"path": "metadata.labels[team]", "before": [], "after": ["x"], "policy": "teams"}
    subject = {"kind": "Pod", "namespace": "shop", "name": "api-0", "generate_name": ""}
    return {
        "id": "m1",
        "at": time.time(),
        "mode": "apply",
        "state": "observed",
        "subject": subject,
        "edits": [edit, {**edit, "path": "metadata.labels[cost]"}],
        **changed,
    }


def missed(**changed: Any) -> Json:
    return {
        "namespace": "shop",
        "name": "api-0",
        "uid": "u1",
        "ownerKind": "Deployment",
        "ownerName": "api",
        "created": "2026-01-01T00:00:00Z",
        "since": time.time() - 300,
        "noticed": time.time() - 290,
        "policies": ["teams"],
        "required": False,
        "result": "told",
        "why": "it runs without the policies teams",
        **changed,
    }


def advice(**changed: Any) -> Json:
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "api",
        "container": "app",
        "state": "firm",
        "reason": "",
        "points": 120,
        "span_s": 1800,
        "use": {"cpu_p95": 0.25, "memory_max": 200 << 20},
        "requests": {"cpu": "260m", "memory": "241M"},
        "requests_now": {"cpu": "1", "memory": None},
        **changed,
    }


def ageing(**changed: Any) -> Json:
    now = time.time()
    return {
        "id": "w1",
        "workload": {
            "namespace": "shop",
            "owner_kind": "Deployment",
            "owner": "api",
            "container": "app",
            "program": "shop",
        },
        "verdict": "leak",
        "state": "provisional",
        "measure": "heap",
        "reason": "it grows since its start; firm after three days",
        "rate": "4.9 MB/min",
        "sentence": "shop: leak (provisional): heap grows since its start, 4.9 MB/min",
        "readings": 12,
        "span_s": 660,
        "first_level": 20 << 20,
        "last_level": 71 << 20,
        "first_seen": now - 300,
        "replicas_say": "there is one process only: nothing can be compared with it",
        "sites": [{"function": "main.remember", "file": "/src/main.go", "line": 84}],
        "functions": [],
        "stack": [["main.remember", "/src/main.go", 84], ["main.main", "/src/main.go", 130]],
        "points": [[now - 660 + 60 * place, (20 + 5 * place) << 20] for place in range(12)],
        **changed,
    }


def neighbour(**changed: Any) -> Json:
    return {
        "namespace": "shop",
        "kind": "Pod",
        "name": "api-0",
        "uid": "u1",
        "node": "n1",
        "ownerKind": "Deployment",
        "owner": "api",
        "containers": ["app"],
        "victim": {
            "now": 3,
            "usual": 1,
            "worst": None,
            "why": "shop/api-0 waits for a CPU (45 %, else 2 %) when jobs/batch-1 is busy",
            "top": True,
        },
        "aggressor": {"now": 0, "usual": 0, "worst": 0, "why": "", "top": False},
        **changed,
    }


WHO: Json = {"node": "n1", "namespace": "shop", "pod": "api-0", "pod_uid": "u", "caller": ""}


def lease(**changed: Any) -> Json:
    return {
        **WHO,
        "role": "shop.api",
        "state": "active",
        "since": time.time() - 60,
        "expires_at": time.time() + 3600,
        **changed,
    }


def grant(**changed: Any) -> Json:
    return {
        **WHO,
        "at": time.time(),
        "operation": "read",
        "secret": "db",
        "version": None,
        "cached": False,
        "result": "granted",
        "reason": "",
        **changed,
    }


def scaler(**changed: Any) -> Json:
    return {
        "key": "shop/web-peaks",
        "namespace": "shop",
        "name": "web-peaks",
        "target": "HorizontalPodAutoscaler/web",
        "workload": "Deployment/web",
        "mode": "Apply",
        "base": 2,
        "wanted": 6,
        "minimum": 6,
        "is_raised": True,
        "opportunistic": None,
        "now_cores": 1.2,
        "ahead_cores": 4.5,
        "upper_cores": 5.1,
        "lead_s": 900.0,
        "skill": 0.62,
        "reason": "",
        "why": "4.5 cores are expected at 12:00, and a pod of 0.75 is full",
        **changed,
    }


def oversold(**changed: Any) -> Json:
    return {
        "node": "worker-1",
        "policy": "batch",
        "raw_cores": 4.0,
        "allocatable_cores": 5.2,
        "requested_cores": 3.9,
        "used_cores": 0.9,
        "waiting": 0.004,
        "asked": 1.5,
        "standing": 1.3,
        "ratio": 1.3,
        "could": 1.45,
        "reason": "",
        "why": "use and the season allow it",
        **changed,
    }
