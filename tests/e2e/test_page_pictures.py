"""Pictures of the page for the documentation, from the page itself.

With NEMUTATOR_PICTURES=docs/images they are taken anew:

    NEMUTATOR_PICTURES=docs/images make e2e ARGS=tests/e2e/test_page_pictures.py
"""

import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.accessibility import SCHEMES, Scheme
from tests.e2e.test_page_flow_map import talk
from tests.e2e.test_page_overview import troubled
from tests.e2e.test_page_policies import POLICIES, policy, preview
from tests.e2e.test_page_seasons import document as seasons
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_inventory import history, row, used, workload_item
from tests.fakes.console_lists import advice, grant, lease, mutation, profile

LARGEST = 160_000
"""Bytes: they are kept in the repository."""

SHORT = {"capacity", "workloads", "profiles", "seasons", "leases", "audit"}
"""Lists of a few rows."""


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = troubled()
    brain.documents["/api/v1/workloads"] = {
        "items": [workload_item(), workload_item(name="search", waste=used(1.8, 5 << 30))],
        "totals": {"waste": used(4.3, 7 << 30)},
        "prices": {"core_hour": 0.04, "gib_hour": 0.005, "currency": "EUR"},
    }
    brain.lists["/api/v1/advice"] = [
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
    pairs = [("web", "api"), ("web", "search"), ("api", "db"), ("api", "cache"), ("search", "db")]
    pairs += [("checkout", "db"), ("web", "checkout"), ("checkout", "mailer")]
    brain.lists["/api/v1/flows"] = [
        talk(*pair, sent=1000.0 * 4**number) for number, pair in enumerate(pairs)
    ]
    brain.lists[POLICIES] = [policy(), policy(name="limits", mode="Preview", verbs=["resources"])]
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
    brain.serve(context)
    return brain


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_page_has_its_picture(
    page: Page, brain: FakeBrain, scheme: Scheme, tmp_path: Path
) -> None:
    folder = Path(os.environ.get("NEMUTATOR_PICTURES", tmp_path))
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": 720})
    places = {
        "overview": ("#overview", "#wrong-lines a", None),
        "capacity": ("#capacity", "#list-rows tr", None),
        "workloads": ("#workloads", "#list-rows tr", None),
        "profiles": ("#profiles", "#list-rows tr", None),
        "seasons": ("#seasons", "#list-rows .graph", None),
        "leases": ("#leases", "#list-rows tr", None),
        "audit": ("#grants", "#list-rows tr", None),
        "workload": ("#history/shop/Deployment/api", "#row-plots .plot", None),
        "advice": ("#advice", "#list-rows tr", None),
        "flows": ("#flows", "#map-boxes g", None),
        "mutations": ("#mutations", "#list-rows tr", "Diff"),
        "policies": ("#policies", "#list-rows tr", "Edit"),
    }
    for name, (hash_, shown, button) in places.items():
        page.goto(f"{ORIGIN}/{hash_}")
        expect(page.locator(shown).first).to_be_visible()
        if button is not None:
            page.get_by_role("button", name=button, exact=True).first.click()
        if button == "Edit":
            page.locator("#policy-text").evaluate("box => { box.rows = 12; }")
            page.get_by_role("button", name="Try on what runs").click()
            expect(page.locator("#policy-lines li")).to_have_count(6)
        if name in SHORT:
            page.set_viewport_size({"width": 1280, "height": 440})
        taken = page.screenshot(path=folder / f"{name}-{scheme}.png")
        page.set_viewport_size({"width": 1280, "height": 720})
        assert taken.startswith(b"\x89PNG")
        assert len(taken) < LARGEST, name
        if button is not None:
            page.keyboard.press("Escape")
