"""A brain that has something for each place of the page."""

import time

from tests.e2e.test_page_flow_map import talk
from tests.e2e.test_page_overview import troubled
from tests.e2e.test_page_policies import POLICIES, TEXT, policy, preview
from tests.e2e.test_page_seasons import document as seasons
from tests.fakes.console_brain import FakeBrain, Json
from tests.fakes.console_inventory import history, row, used, workload_item
from tests.fakes.console_lists import (
    advice,
    ageing,
    grant,
    lease,
    missed,
    mutation,
    neighbour,
    oversold,
    profile,
    scaler,
)

VIEWS = {
    "overview": "#wrong-lines a",
    "topology": "#nodes tbody tr",
    "topology/edge-1": "#tree tbody tr",
    "history/shop/Deployment/api": "#row-plots .plot",
    **dict.fromkeys(
        (
            "capacity",
            "workloads",
            "flows",
            "clusters",
            "profiles",
            "ageing",
            "neighbours",
            "advice",
            "seasons",
            "scalers",
            "oversell",
            "mutations",
            "policies",
            "missed-pods",
            "leases",
            "grants",
        ),
        "#list-rows tr",
    ),
}
"""What is to be seen at each of its places."""


def cluster(name: str, nodes: int, *, here: bool = False) -> Json:
    whole, waste = 8.0 * nodes, 1.1 * nodes
    return {
        "name": name,
        "here": here,
        "published_at": time.time() - 20,
        "stale": False,
        "summary": {
            "version": "0.9",
            "nodes": {
                "nodes": nodes,
                "pods": 31 * nodes,
                "allocatable": used(whole, nodes << 35),
                "requested": used(0.7 * whole, nodes << 34),
                "used": used(0.3 * whole, nodes << 33),
            },
            "workloads": {"workloads": 9 * nodes, "waste": used(waste, nodes << 32)},
        },
    }


def furnished() -> FakeBrain:
    brain = troubled()
    brain.documents["/api/v1/workloads"] = {
        "items": [workload_item(), workload_item(name="search", waste=used(1.8, 5 << 30))],
        "totals": {"waste": used(4.3, 7 << 30)},
        "prices": {"core_hour": 0.04, "gib_hour": 0.005, "currency": "EUR"},
    }
    advised = [
        advice(
            owner=name,
            pods=pods,
            use={
                "cpu_p50": p50,
                "cpu_p95": p95,
                "memory_p95": most << 20,
                "memory_max": most << 20,
            },
            requests_now={"cpu": now, "memory": memory},
            requests={"cpu": f"{int(p95 * 1000)}m", "memory": f"{most * 115 // 100}Mi"},
            limits={"cpu": None, "memory": f"{most * 115 // 100}Mi"},
        )
        for name, pods, now, memory, p50, p95, most in (
            ("api", 12, "2", "2Gi", 0.31, 0.62, 512),
            ("checkout", 6, "4", "4Gi", 0.9, 1.7, 900),
            ("search", 20, "2", "3Gi", 0.2, 0.45, 1200),
            ("mailer", 2, "500m", "512Mi", 0.02, 0.09, 140),
        )
    ]
    totals = {
        "containers": 4,
        "requested_cpu_cores": 89.0,
        "used_cpu_cores": 26.82,
        "freed_cpu_cores": 62.18,
        "requested_memory_bytes": 109 << 30,
        "used_memory_bytes": 35_824 << 20,
        "freed_memory_bytes": 70_428 << 20,
    }
    brain.documents["/api/v1/advice"] = {"items": advised, "totals": totals, "remaining": 0}
    pairs = [("web", "api"), ("web", "search"), ("api", "db"), ("api", "cache"), ("search", "db")]
    pairs += [("checkout", "db"), ("web", "checkout"), ("checkout", "mailer")]
    brain.lists["/api/v1/flows"] = [
        talk(*pair, sent=1000.0 * 4**number) for number, pair in enumerate(pairs)
    ]
    brain.lists[POLICIES] = [policy(), policy(name="limits", mode="Preview", verbs=["resources"])]
    brain.documents[f"{POLICIES}/teams"] = policy(text=TEXT)
    tried = preview(objects=212, changed=1)
    tried["items"][0]["edits"][0]["after"] = ["green"]
    brain.answers[f"{POLICIES}/preview"] = (200, tried)
    subject = {"kind": "Pod", "namespace": "shop", "name": "api-0", "generate_name": ""}
    cpu = {
        "path": "containers[name=app].resources.requests.cpu",
        "before": ["2"],
        "after": ["620m"],
        "policy": "limits",
        "reason": "p95 of 212 points",
    }
    brain.lists["/api/v1/mutations"] = [mutation(subject=subject, edits=[cpu], at=time.time() - 90)]
    brain.lists["/api/v1/profiles"] = [
        profile(id=name, title=f"shop/{name}", workload=f"shop/{name}", asked_at=time.time() - age)
        for name, age in (("api", 40.0), ("checkout", 400.0), ("search", 4_000.0))
    ]
    brain.lists["/api/v1/leases"] = [
        lease(path=f"{name}/creds/app") for name in ("database", "pki")
    ]
    brain.lists["/api/v1/grants"] = [grant(at=time.time() - age) for age in (3.0, 60.0, 900.0)]
    brain.documents["/api/v1/seasons"] = seasons(
        left_off=0,
        calendar={"day_s": 86400.0, "slot_s": 900.0, "zone": "Europe/Berlin", "compressed": False},
    )
    brain.lists["/api/v1/history/workloads"] = [row()]
    brain.documents["/api/v1/workloads/shop/Deployment/api/history"] = history()
    found = [cluster("berlin", 12, here=True), cluster("frankfurt", 40), cluster("edge", 3)]
    brain.documents["/api/v1/clusters"] = {
        "totals": {
            "clusters": 3,
            "nodes": {"nodes": 55, "pods": 1705},
            "workloads": {"workloads": 495},
        },
        "items": found,
    }
    calm = {"now": 0, "usual": 0, "worst": 1, "why": "", "top": False}
    noise = {"now": 3, "usual": 2, "worst": 4, "why": "2 pods wait when it is busy", "top": True}
    brain.lists["/api/v1/neighbours"] = [
        neighbour(),
        neighbour(namespace="jobs", name="batch-1", uid="u2", owner="batch", victim=calm)
        | {"aggressor": noise},
    ]
    brain.lists["/api/v1/missed-pods"] = [
        missed(),
        missed(uid="u2", name="checkout-1", ownerName="checkout", result="evicted"),
    ]
    steady = {"verdict": "steady", "rate": "", "points": [], "sites": [], "stack": []}
    of = ageing()["workload"] | {"owner": "checkout", "program": "checkout"}
    brain.lists["/api/v1/ageing"] = [
        ageing(),
        ageing(id="w2", workload=of, state="firm", sentence="checkout: steady", **steady)
        | {"reason": "it neither grows nor slows down"},
    ]
    brain.lists["/api/v1/scalers"] = [
        scaler(),
        scaler(key="shop/api", name="api", mode="Preview", is_raised=False, minimum=2),
    ]
    brain.documents["/api/v1/oversell"] = {
        "most": 3,
        "problem": "",
        "items": [
            oversold(),
            oversold(node="worker-2", ratio=1.0, could=1.0, why="pods wait for its CPU"),
        ],
    }
    for name, lines in (
        ("api", "main;serve;parse 320\nmain;serve;encode 140\nmain;serve;query;decode 90\n"),
        ("before", "main;serve;parse 110\nmain;serve;encode 150\nmain;serve;query;decode 95\n"),
    ):
        brain.texts[f"/api/v1/profiles/{name}/folded"] = lines + "main;runtime.gcBgMarkWorker 60\n"
    brain.lists["/api/v1/profiles"].append(
        profile(id="before", title="shop/api", workload="shop/api", asked_at=time.time() - 90_000)
    )
    return brain
