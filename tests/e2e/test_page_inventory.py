"""Lists of nodes, workloads, flows and clusters, in front of a brain that answers what a test wants."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.browsing import Watch, shown
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_inventory import (
    ROWS,
    WORKLOADS,
    cluster_node,
    flow,
    flow_end,
    history,
    row,
    used,
    workload_item,
)
from tests.fakes.console_lists import mutation, oversold

NODES, FLOWS = "/api/v1/nodes", "/api/v1/flows"
EVIL = '<img src=x onerror=alert(1)>\u202eevil"'


def test_a_node_has_three_lines_of_each_resource(page: Page, brain: FakeBrain) -> None:
    brain.documents[NODES] = {
        "items": [
            cluster_node(),
            cluster_node(name="worker-2", ready=False, sums=None, seen_at=None, used=used()),
        ],
        "remaining": 3,
    }
    rows = shown(page, "capacity")
    cells = rows.nth(0).locator("td")
    expect(cells.nth(1)).to_have_text("ready")
    expect(cells.nth(2)).to_have_text(
        re.compile("used 0.500 cores \\(13 %\\)\\s*requested 3.000 cores\\s*of 4.000 cores")
    )
    widths = [
        cells.nth(3).locator(f".{what}").get_attribute("width")
        for what in ("whole", "requested", "used")
    ]
    assert widths == ["100.0", "50.0", "25.0"]
    expect(cells.nth(4)).to_have_text("12 of 110, 1 pending")
    expect(cells.nth(5)).to_have_text("12 % disk")
    expect(rows.nth(1).locator("td").nth(1)).to_have_text("not ready, no agent has reported")
    expect(rows.nth(1).locator("td").nth(2)).to_contain_text("used —")
    expect(page.locator("#list-about")).to_contain_text(
        "3 nodes more: a part of a name in the filter finds them."
    )
    expect(rows.nth(0).locator("a")).to_have_attribute("href", "#topology/worker-1")


def test_a_workload_says_what_it_asks_for_uses_and_suffers(page: Page, brain: FakeBrain) -> None:
    brain.lists[WORKLOADS] = [
        workload_item(),
        workload_item(
            name="ssh.service",
            kind="unit",
            processes=1,
            restarts=0,
            oom_ended=0,
            throttled=None,
            requests=used(),
            network={"received": None, "sent": None},
        ),
        workload_item(kind="group", requests=used(0.0, 0)),
    ]
    rows = shown(page, "workloads")
    cells = rows.nth(0).locator("td")
    expect(cells.nth(0)).to_have_text("shop/api")
    expect(cells.nth(1)).to_have_text("2 of 3 ready, 1 pending, 1 without a node")
    expect(cells.nth(2)).to_have_text(re.compile("3.000 cores\\s*3.0 GiB"))
    expect(cells.nth(3)).to_have_text(re.compile("— cores\\s*6.0 GiB"))
    expect(cells.nth(6)).to_have_text("—")
    expect(cells.nth(9)).to_have_text(
        "2 containers ended for memory, 4 restarts, throttled in 25 % of periods"
    )
    expect(cells.nth(9)).to_have_attribute("data-grade", "suffer")
    other = rows.nth(1).locator("td")
    expect(other.nth(1)).to_have_text("1 process")
    expect(other.nth(9)).to_have_text("none")
    expect(rows.nth(2).locator("td").nth(2)).to_have_text("none")
    expect(rows.nth(2).locator("a")).to_have_text(["profile", "advice"])
    expect(rows.nth(0).locator("a").first).to_have_attribute("href", "#history/shop/Deployment/api")


def test_a_flow_goes_from_who_connects_to_who_listens(page: Page, brain: FakeBrain) -> None:
    brain.lists[FLOWS] = [flow(), flow(direction="in", peer=flow_end("Address", "192.0.2.7"))]
    rows = shown(page, "flows")
    texts = [rows.nth(0).locator("td").nth(place) for place in range(6)]
    for cell, said in zip(
        texts, ["shop/api-0", "data/db", "5432/tcp", "100 B/s", "4.0 KiB/s", "7"], strict=True
    ):
        expect(cell).to_have_text(said)
    expect(texts[0]).to_have_attribute("title", "Deployment api, 10.0.0.9")
    incoming = rows.nth(1).locator("td")
    expect(incoming.nth(0)).to_have_text("192.0.2.7")
    expect(incoming.nth(1)).to_have_text("shop/api-0")
    expect(incoming.nth(3)).to_have_text("4.0 KiB/s")


@pytest.mark.parametrize("view", ["workloads", "flows"])
def test_an_empty_list_says_what_to_do(page: Page, brain: FakeBrain, view: str) -> None:
    shown(page, view)
    expect(page.locator("#list-empty")).to_have_text(re.compile("agents|Agents"))


def test_a_workload_among_thousands_is_searched_by_the_brain(page: Page, known: FakeBrain) -> None:
    known.remaining = 9_700
    rows = shown(page, "workloads")
    expect(rows.first).to_be_visible()
    about = page.locator("#list-about")
    said = "9700 workloads more: a part of a name in the filter finds them."
    expect(about).to_contain_text(said)
    page.locator("#list-filter").fill("workload:api -test")
    expect(rows.first).to_be_visible()
    page.wait_for_function("location.hash.includes('workload')")
    with page.expect_request(lambda request: "search=api+shop" in request.url):
        page.locator("#list-filter").fill("workload:api workload:shop")
    with page.expect_request(lambda request: request.url.endswith("&search=api")):
        page.locator("#list-filter").fill("api memory>1")
    page.locator("#list-filter").fill("api")
    expect(rows.first).to_be_visible()
    expect(about).to_contain_text(said)


@pytest.mark.parametrize("view", ["capacity", "oversell"])
def test_a_node_among_thousands_is_searched_by_the_brain(
    page: Page, known: FakeBrain, view: str
) -> None:
    known.documents[NODES] = {"items": [cluster_node(name="n1")], "remaining": 4_800}
    known.documents["/api/v1/oversell"] = {"items": [oversold(node="n1")], "remaining": 4_800}
    rows = shown(page, view)
    expect(rows.first).to_be_visible()
    said = "4800 nodes more: a part of a name in the filter finds them."
    expect(page.locator("#list-about")).to_contain_text(said)
    with page.expect_request(lambda request: request.url.endswith("&search=n4711")):
        page.locator("#list-filter").fill("node:n4711")


@pytest.mark.parametrize("view", ["workloads", "advice"])
def test_what_nobody_is_called_can_be_typed_over(page: Page, known: FakeBrain, view: str) -> None:
    rows = shown(page, view)
    expect(rows.first).to_be_visible()
    path = "/api/v1/advice" if view == "advice" else WORKLOADS
    before = known.lists[path]
    known.lists[path] = []
    page.locator("#list-filter").fill("workload:zzz")
    expect(page.locator("#list-empty")).to_have_text("Nothing is called so.")
    expect(page.locator("#list-filter")).to_be_visible()
    known.lists[path] = before
    page.locator("#list-filter").fill("")
    expect(rows.first).to_be_visible()


def test_advice_is_asked_for_in_a_page_and_of_one_workload_alone(
    page: Page, known: FakeBrain
) -> None:
    known.remaining = 19_700
    expect(shown(page, "advice").first).to_be_visible()
    about = page.locator("#list-about")
    expect(about).to_contain_text(
        "19700 containers more: a part of a name in the filter finds them."
    )
    with page.expect_request(lambda request: request.url.endswith("&search=cart")):
        page.locator("#list-filter").fill("cart")
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    queries = {
        query
        for path, query in zip(known.asked, known.queries, strict=True)
        if path == "/api/v1/advice"
    }
    assert queries == {
        "orderBy=waste&limit=300",
        "orderBy=waste&limit=300&search=cart",
        "namespace=shop&workload=Deployment%2Fapi&limit=100",
    }


def test_hostile_names_are_text(page: Page, known: FakeBrain) -> None:
    watch = Watch(page)
    known.lists[WORKLOADS] = [workload_item(namespace=EVIL, name="../../%2e", kind=EVIL)]
    known.lists[FLOWS] = [flow(peer=flow_end(EVIL, EVIL, namespace=EVIL))]
    known.documents[NODES] = {"items": [cluster_node(name=EVIL)]}
    for view in ("workloads", "flows", "capacity"):
        expect(shown(page, view)).to_have_count(1)
        expect(page.locator("#list-rows")).to_contain_text("\\u{202e}evil")
    known.lists[ROWS] = [row(EVIL, owner_kind=EVIL), row("b", owner_kind=EVIL)]
    subject = {"kind": EVIL, "namespace": EVIL, "name": EVIL, "generate_name": ""}
    at = float(history()["from_at"]) + 1
    known.lists["/api/v1/mutations"] = [mutation(subject=subject, at=at)]
    evil = quote(EVIL, safe="!'()*")
    known.documents[f"/api/v1/workloads/{evil}/{evil}/..%2F..%2F%252e/history"] = history()
    shown(page, "workloads").get_by_role("link", name="history").click()
    expect(page.locator("#row-title")).to_contain_text("\\u{202e}evil")
    expect(page.locator("#row-containers a").first).to_contain_text("\\u{202e}evil")
    expect(page.locator("#row-changes-lines")).to_contain_text("\\u{202e}evil")
    assert watch.complaints == []
    assert watch.origins <= {ORIGIN}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_use_it(page: Page, known: FakeBrain, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    known.documents[NODES] = {"items": [cluster_node(), cluster_node(name="w2", ready=False)]}
    known.lists[FLOWS] = [flow()]
    for view in ("capacity", "workloads", "flows"):
        expect(shown(page, view).first).to_be_visible()
        assert complaints(page) == []
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    assert complaints(page) == []


def test_it_fits_a_narrow_window(page: Page, known: FakeBrain) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(shown(page, "workloads").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_machine_shows_its_disks_and_interfaces(page: Page, brain: FakeBrain) -> None:
    page.goto(ORIGIN)
    rows = page.locator("#equipment-rows tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_have_text("/ext4 on /dev/sda136.0 GiB of 40.0 GiB (90 %)")
    expect(rows.nth(0)).to_have_attribute("data-grade", "notice")
    expect(rows.nth(1)).to_have_text("eth0network, up, 1000 Mbit/s2.0 KiB/s in, 0 B/s out")
    expect(rows.nth(2)).to_have_text("core 0temperature51 °C")
    machine = brain.node["machine"]
    machine["interfaces"][0] |= {"name": EVIL, "is_up": False, "megabits": None}
    machine["interfaces"][0]["traffic"]["drops"] = 3.0
    machine["file_systems"][0]["used_bytes"] = 40 << 30
    page.reload()
    expect(rows.nth(0)).to_have_attribute("data-grade", "suffer")
    expect(rows.nth(1)).to_contain_text("\\u{202e}evil")
    expect(rows.nth(1)).to_contain_text("network, down")
    expect(rows.nth(1)).to_contain_text("3.0 dropped or broken packets/s")
    brain.nodes[0]["machine"] |= {"file_systems": [], "interfaces": [], "temperatures": []}
    page.reload()
    expect(page.locator("#machine-name")).to_be_visible()
    expect(page.locator("#equipment")).to_be_hidden()
