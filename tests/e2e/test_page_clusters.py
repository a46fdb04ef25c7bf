"""Several clusters, and what each of them has, in front of a brain that answers what a test wants."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_inventory import cluster_node, history, row, used, workload_item

NODES, EVIL = "/api/v1/nodes", '<img src=x onerror=alert(1)>\u202eevil"'


def test_clusters_show_what_each_has_and_all_together(page: Page, brain: FakeBrain) -> None:
    nodes = {"nodes": 3, "pods": 40, "allocatable": used(8, 1 << 34), "requested": used(4, 1 << 33), "used": used(1, 1 << 32)}  # fmt: skip
    summary = {"version": "9", "nodes": nodes, "workloads": {"workloads": 7, "waste": used(2, 0)}}
    one = {"name": "east", "here": True, "published_at": 1.0, "stale": True, "summary": summary}
    other = {**one, "name": EVIL, "here": False, "summary": None, "published_at": 0.0}
    totals = {"clusters": 2, "nodes": {**nodes, "nodes": 6}, "workloads": {"workloads": 14}}
    brain.documents["/api/v1/clusters"] = {"totals": totals, "items": [one, other]}
    page.goto(f"{ORIGIN}/#clusters")
    rows = page.locator("#list-rows tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("east (here)")
    expect(rows.first).to_contain_text("40")
    expect(rows.first).to_contain_text("ago, stale")
    expect(rows.last).to_contain_text("another version's")
    expect(rows.last).to_contain_text("—, stale")
    expect(page.locator("#list-about")).to_contain_text("6 nodes")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert complaints(page) == []


def test_another_clusters_workload_leads_to_its_history(page: Page, brain: FakeBrain) -> None:
    west, name = "/api/v1/clusters/west", EVIL + "/"
    nodes = {"nodes": 3, "pods": 40, "allocatable": used(), "requested": used(), "used": used()}
    summary = {"version": "9", "nodes": nodes, "workloads": {"workloads": 7, "waste": used(2, 0)}}
    one = {"name": "east", "here": True, "published_at": 1.0, "stale": True, "summary": summary}
    totals = {"clusters": 2, "nodes": nodes, "workloads": {"workloads": 14}}
    items = [one, {**one, "name": "west", "here": False}]
    brain.documents["/api/v1/clusters"] = {"totals": totals, "items": items}
    brain.documents[f"{west}/workloads"] = {
        "items": [workload_item(), workload_item(name=name), workload_item(kind="group")],
        "remaining": 4,
        "now": 100.0,
        "counted_at": 40.0,
    }
    brain.lists[f"{west}/history/workloads"] = [row(), row("proxy")]
    brain.documents[f"{west}/workloads/shop/Deployment/api/history"] = history()
    page.goto(f"{ORIGIN}/#clusters")
    rows = page.locator("#list-rows tr")
    expect(rows.first.locator("a").last).to_have_attribute("href", "#workloads")
    rows.last.get_by_role("link", name="workloads").click()
    expect(page.locator("#list-title")).to_have_text("Workloads of west")
    about = page.locator("#list-about")
    expect(about).to_contain_text("This is 60 s old.")
    expect(about).to_contain_text("4 rows more: nemutator workloads --cluster=west finds them.")
    expect(rows).to_have_count(3)
    expect(rows.nth(2).locator("a")).to_have_count(0)
    page.locator("#list-filter").fill("workload:api")
    expect(page).to_have_url(re.compile("#workloads@west/workload%3Aapi$"))
    page.reload()
    rows.first.get_by_role("link", name="history").click()
    expect(page.locator("#row-kind")).to_have_text("Deployment of west")
    expect(page.locator("#row-plots .plot")).not_to_have_count(0)
    expect(page.locator("#row-elsewhere")).to_be_hidden()
    page.locator("#row-containers").get_by_role("link", name="proxy").click()
    page.locator("#row-spans").get_by_role("link", name="1w").click()
    expect(page).to_have_url(re.compile("#history/shop/Deployment/api/proxy/1w/west$"))
    expect(page.locator("#row-json")).to_have_attribute(
        "href", re.compile("^/api/v1/clusters/west/workloads/shop/Deployment/api/history")
    )
    of_east = {path for path in brain.asked if "/clusters" not in path} - {NODES, "/api/v1/advice"}
    assert of_east == set()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert complaints(page) == []


def test_only_what_clusters_publish_is_a_list_of_another_one(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#advice@west")
    expect(page.locator("#main")).to_be_visible()
    brain.documents["/api/v1/clusters/no%20one/nodes"] = {"items": [cluster_node()]}
    page.goto(f"{ORIGIN}/#capacity@no%20one")
    rows = page.locator("#list-rows tr")
    expect(rows).to_have_count(1)
    expect(page.locator("#list-title")).to_have_text("Capacity of no one")
    expect(rows.locator("a")).to_have_count(0)
