"""Nodes, workloads, flows and a workload's history, in front of a brain that answers what a test wants."""

import re
import time
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.browsing import Watch
from tests.e2e.canvases import places
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json
from tests.fakes.console_inventory import (
    ROWS,
    cluster_node,
    flow,
    flow_end,
    history,
    row,
    used,
    workload_item,
)
from tests.fakes.console_lists import advice, ageing, mutation, neighbour, profile

NODES, WORKLOADS, FLOWS = "/api/v1/nodes", "/api/v1/workloads", "/api/v1/flows"
HISTORY = "/api/v1/workloads/shop/Deployment/api/history"
EVIL = '<img src=x onerror=alert(1)>\u202eevil"'


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = FakeBrain()
    brain.serve(context)
    return brain


@pytest.fixture
def known(brain: FakeBrain) -> FakeBrain:
    """A workload with two containers, of which one is advised on."""
    brain.lists[ROWS] = [row(), row("proxy")]
    brain.documents[HISTORY] = history()
    brain.lists["/api/v1/advice"] = [advice(requests_now={"cpu": "250m", "memory": str(1 << 30)})]
    brain.lists[WORKLOADS] = [workload_item()]
    return brain


DRAWN = "new Promise((done) => requestAnimationFrame(() => done(true)))"
"""Plots are drawn before the next frame."""


def layers(plot: Locator) -> Locator:
    """What is drawn of values in *plot*."""
    return plot.locator(".legend button")


def long_history() -> Json:
    """An hour in minutes: as many thousandths of a core as the minute's number."""
    values = [minute / 1000 for minute in range(60)]
    figures = {
        "cpu_cores": {"mean": values, "low": values, "high": values, "most": values},
        "memory_bytes": {"mean": [1 << 20] * 60, "low": None, "high": None, "most": None},
    }
    return history(figures=figures, steps=60, pods=[1.0] * 60, week=None)


def shown(page: Page, view: str) -> Locator:
    page.goto(f"{ORIGIN}/#{view}")
    expect(page.locator(f'#views a[href="#{view}"]')).to_have_attribute("aria-current", "page")
    return page.locator("#list-rows tr")


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
    expect(page.locator("#list-about")).to_contain_text("3 nodes more: nemutator nodes finds them.")
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


def test_a_workload_leads_to_its_history(page: Page, known: FakeBrain) -> None:
    shown(page, "workloads").nth(0).get_by_role("link", name="history").click()
    expect(page.locator("#row-title")).to_have_text("shop/api")
    expect(page.locator('#views a[href="#workloads"]')).to_have_attribute("aria-current", "page")
    plots = page.locator("#row-plots article")
    expect(plots.locator("h2")).to_have_text(["CPU", "Memory"])
    cpu = plots.nth(0)
    expect(cpu.locator(".caption").last).to_contain_text("one pod requests 0.250 cores")
    # Two containers share the workload's limit: whose it is cannot be told.
    expect(layers(cpu)).to_have_text(
        [
            "all pods",
            "most of one pod",
            "advised",
            "requested",
            "lowest to highest minute",
            "usual for this hour of the week",
        ]
    )
    # A step of which nothing is known is a gap in the line.
    page.wait_for_function(DRAWN)
    used = places(cpu, "--cpu")
    assert min(used) < 0.05
    assert max(used) > 0.95
    assert not [place for place in used if 2.1 / 6 < place < 2.9 / 6]
    assert places(cpu, "--notice")
    expect(page.locator("#row-about")).to_have_text("6 min in steps of 60 s")
    expect(page.locator("#row-json")).to_have_attribute(
        "href", f"{HISTORY}?container=app&from=-3600"
    )


def test_what_was_advised_changed_and_is_busy_stands_in_the_plots(
    page: Page, known: FakeBrain
) -> None:
    begun = float(known.documents[HISTORY]["from_at"])
    then = {"at": begun + 150, "state": "reversed"}
    early = {"at": begun - 9, "id": "early"}
    preview = {"at": begun + 150, "id": "none", "mode": "preview"}
    known.lists["/api/v1/mutations"] = [mutation(**then), mutation(**early), mutation(**preview)]
    known.lists["/api/v1/deploys"] = [{"at": begun + 150}, {"at": begun - 9}]
    season = {"namespace": "shop", "kind": "Deployment", "name": "api", "season": "peak"}
    always = [
        {"season": "peak", "begin": "00:00", "end": "12:00"},
        {"season": "pre-peak", "begin": "12:00", "end": "00:00"},
    ]
    known.documents["/api/v1/seasons"] = {
        "calendar": {"zone": "Europe/Berlin", "compressed": False},
        "items": [{**season, "spans": always}],
    }
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    cpu = page.locator("#row-plots article").first
    expect(layers(cpu).filter(has_text="advised")).to_have_count(1)
    expect(cpu.locator(".caption").last).to_contain_text("advised are 0.260 cores")
    marks = cpu.locator(".legend span")
    expect(marks).to_have_text(
        ["new version", "changed", "busy season of the day, as foretold now"]
    )
    page.wait_for_function(DRAWN)
    for colour in ("--ink", "--accent"):
        assert [place for place in places(cpu, colour) if abs(place - 2.5 / 6) < 0.01]
    expect(page.locator("#row-state")).to_contain_text("2 of 3 pods ready · 4 restarts")
    expect(page.locator("#row-state")).to_contain_text("season: peak")
    lines = page.locator("#row-changes-lines li")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("Pod shop/api-0: 2 fields by teams, and taken back since")
    slider = page.get_by_role("slider", name="moment of CPU")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(cpu.locator(".moment")).to_contain_text(": a new version and one change")
    assert complaints(page) == []


def test_what_was_found_of_it_stands_below_its_plots(page: Page, known: FakeBrain) -> None:
    """How it ages, its newest profile as a flame graph, and what was changed, to be read and taken back."""
    begun = float(known.documents[HISTORY]["from_at"])
    known.lists["/api/v1/mutations"] = [mutation(at=begun + 150)]
    other = ageing(id="w2", sentence="of another", workload=ageing()["workload"] | {"owner": "db"})
    known.lists["/api/v1/ageing"] = [ageing(), other]
    calm = {"now": 0, "usual": 0, "worst": 0, "why": "", "top": False}
    known.lists["/api/v1/neighbours"] = [
        neighbour(),
        neighbour(uid="u2", victim=calm),
        neighbour(uid="u3", owner="db"),
    ]
    known.lists["/api/v1/profiles"] = [
        profile(id="old", workload="shop/api", asked_at=1.0),
        profile(id="new", workload="shop/api"),
        profile(id="runs", workload="shop/api", state="running", asked_at=time.time()),
        profile(id="else", workload="shop/db", asked_at=time.time()),
    ]
    path = "/api/v1/profiles/new/folded"
    known.texts[path] = f"main;serve;parse 60\nmain;serve;{EVIL} 39\nmain 1\nnothing to see\n"
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-state")).to_contain_text(
        "throttled in 25 % of periods · waits 31 % for CPU"
    )
    verdicts = page.locator("#row-ageing-lines li")
    expect(verdicts).to_have_count(1)
    expect(verdicts).to_contain_text("shop: leak (provisional)")
    harms = page.locator("#row-neighbours-lines li")
    expect(harms).to_have_count(1)
    expect(harms).to_contain_text("when jobs/batch-1 is busy")
    flame = page.locator("#row-flame")
    expect(flame.locator("rect")).to_have_count(5)
    widths = [each.get_attribute("width") for each in flame.locator("rect").all()]
    assert widths == ["599.50", "599.50", "593.50", "359.50", "233.50"]
    expect(page.locator("#row-profile-words")).to_contain_text("CPU time")
    expect(page.locator("#row-profile-words")).to_contain_text("60 % in parse, 39 % in <img")
    expect(flame).to_have_attribute("aria-label", re.compile("Flame graph: CPU time"))
    link = page.get_by_role("link", name="The whole flame graph")
    expect(link).to_have_attribute("href", "/api/v1/profiles/new/flamegraph")
    # What is made once is asked for once.
    assert known.asked.count(path) == 1

    line = page.locator("#row-changes-lines li")
    line.get_by_role("button", name="Diff").click()
    expect(page.locator("#details-lines")).to_contain_text("metadata.labels[team]")
    page.locator("#details").get_by_role("button", name="Close").click()
    step = {"path": "metadata.labels[team]", "live": ["x"], "before": [], "verdict": "reverse"}
    plan = {"steps": [{**step, "what": "taken away"}]}
    known.answers["/api/v1/mutations/m1/rollback?plan=true"] = (200, plan)
    done = {"object": {"name": "api-0"}, "state": "reversed"}
    known.answers["/api/v1/mutations/m1/rollback?plan=false"] = (200, done)
    line.get_by_role("button", name="Take back").click()
    expect(page.locator("#rollback-steps")).to_contain_text("metadata.labels[team]")
    page.locator("#rollback-do").click()
    expect(page.locator("#row-outcome")).to_have_text("api-0: reversed")
    assert complaints(page) == []


def test_a_workload_among_thousands_is_searched_by_the_brain(page: Page, known: FakeBrain) -> None:
    known.remaining = 9_700
    rows = shown(page, "workloads")
    expect(rows.first).to_be_visible()
    about = page.locator("#list-about")
    expect(about).to_contain_text("9700 workloads more: the filter workload:NAME finds them.")
    page.locator("#list-filter").fill("workload:api -test")
    expect(rows.first).to_be_visible()
    page.wait_for_function("location.hash.includes('workload')")
    with page.expect_request(lambda request: "search=api" in request.url):
        page.locator("#list-filter").fill("workload:api workload:shop")


def test_a_workload_leads_to_all_that_is_known_of_it(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    links = page.get_by_role("navigation", name="This workload in the lists").get_by_role("link")
    expect(links).to_have_count(8)
    found = {link.inner_text(): link.get_attribute("href") for link in links.all()}
    assert found["Profile"] == "#profiles/api"
    assert found["Mutations"] == "#mutations/api"
    assert found["Audit"] == "#grants/api"
    links.filter(has_text="Leases").click()
    expect(page.locator("#list-title")).to_have_text("Leases")


def test_a_plot_is_read_by_keyboard(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    slider = page.get_by_role("slider", name="moment of CPU")
    said = "aria-valuetext"
    usual = "usually 0.200 cores to 0.500 cores"
    now = f": 0.200 cores of 0.500 cores requested, one pod at most 0.200 cores, {usual}"
    expect(slider).to_have_attribute(said, re.compile(now))
    values = page.locator("#row-plots article").first.locator(".legend b")
    expect(values).to_have_text(
        [
            "0.200 cores",
            "0.200 cores",
            "0.520 cores",
            "0.500 cores",
            "0.200 to 0.200 cores",
            "0.200 to 0.500 cores",
        ]
    )
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute(said, re.compile(": 0.400 cores of"))
    expect(values.first).to_have_text("0.400 cores")
    # One moment is read in all plots.
    memory = page.locator("#row-plots article").nth(1)
    expect(memory.locator("input")).to_have_value("4")
    expect(memory.locator(".legend b").first).to_have_text("409.6 MiB")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute(said, re.compile("nothing is known of this moment"))
    expect(values.first).to_have_text("—")


def test_a_plot_is_read_by_pointer_and_zoomed_by_dragging(page: Page, known: FakeBrain) -> None:
    known.documents[HISTORY] = long_history()
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    cpu, memory = (
        page.locator("#row-plots article").first,
        page.locator("#row-plots article").nth(1),
    )
    box = cpu.locator(".u-over").bounding_box()
    assert box is not None

    def at(part: float) -> tuple[float, float]:
        return box["x"] + part * box["width"], box["y"] + box["height"] / 2

    page.mouse.move(*at(0.26))
    for plot in (cpu, memory):
        expect(plot.locator("input")).to_have_value("15")
    expect(cpu.locator(".legend b").first).to_have_text("0.015 cores")
    line = memory.locator(".u-cursor-x").bounding_box()
    over = memory.locator(".u-over").bounding_box()
    assert line is not None
    assert over is not None
    assert abs((line["x"] - over["x"]) / over["width"] - 0.26) < 0.02
    page.mouse.down()
    page.mouse.move(*at(0.4), steps=3)
    page.mouse.move(*at(0.5), steps=3)
    page.mouse.up()
    for plot in (cpu, memory):
        expect(plot.locator("input")).to_have_attribute("min", "16")
        expect(plot.locator("input")).to_have_attribute("max", "29")
    whole = page.get_by_role("button", name="Whole time")
    expect(whole).to_be_enabled()
    page.mouse.dblclick(*at(0.5))
    expect(memory.locator("input")).to_have_attribute("max", "59")
    expect(whole).to_be_disabled()


def test_time_is_zoomed_by_keyboard_around_the_moment_that_is_read(
    page: Page, known: FakeBrain
) -> None:
    known.documents[HISTORY] = long_history()
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    slider = page.get_by_role("slider", name="moment of CPU")
    slider.focus()
    page.keyboard.press("+")
    expect(slider).to_have_attribute("min", "30")
    page.keyboard.press("Home")
    page.keyboard.press("+")
    expect(slider).to_have_attribute("min", "30")
    expect(slider).to_have_attribute("max", "44")
    # What comes anew does not take it away.
    asked = known.asked.count(HISTORY)
    with page.expect_response(lambda response: HISTORY in response.url):
        pass
    assert known.asked.count(HISTORY) > asked
    expect(slider).to_have_attribute("max", "44")
    page.keyboard.press("0")
    expect(slider).to_have_attribute("min", "0")
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom out").click()
    expect(slider).to_have_attribute("max", "59")
    assert complaints(page) == []


def test_what_a_legend_names_can_be_left_out(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    cpu = page.locator("#row-plots article").first
    page.wait_for_function(DRAWN)
    assert places(cpu, "--notice")
    requested = cpu.get_by_role("button", name="requested")
    requested.click()
    expect(requested).to_have_attribute("aria-pressed", "false")
    page.wait_for_function(DRAWN)
    assert places(cpu, "--notice") == []
    assert places(cpu, "--cpu")
    requested.click()
    expect(requested).to_have_attribute("aria-pressed", "true")


def test_spans_and_containers_are_places_of_their_own(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    spans, containers = page.locator("#row-spans a"), page.locator("#row-containers a")
    expect(spans).to_have_text(["1h", "6h", "1d", "1w", "3w", "4w"])
    expect(spans.nth(0)).to_have_attribute("aria-current", "true")
    expect(containers).to_have_text(["app", "proxy"])
    containers.nth(1).click()
    expect(containers.nth(1)).to_have_attribute("aria-current", "true")
    spans.nth(2).click()
    expect(spans.nth(2)).to_have_attribute("aria-current", "true")
    expect(page.locator("#row-json")).to_have_attribute(
        "href", f"{HISTORY}?container=proxy&from=-86400"
    )
    # Nobody advises on this container: nothing is drawn of what it requests.
    expect(
        layers(page.locator("#row-plots article").first).filter(has_text="request")
    ).to_have_count(0)


def test_the_limit_of_an_only_container_is_drawn(page: Page, known: FakeBrain) -> None:
    known.lists[ROWS] = [row()]
    known.lists[WORKLOADS] = [workload_item(limits=used(3.0, 6 << 30))]
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api/app/1h")
    expect(page.locator("#row-containers")).to_be_hidden()
    cpu = page.locator("#row-plots article").first
    limit = layers(cpu).filter(has_text="limit")
    expect(limit).to_have_count(1)
    expect(cpu.locator(".caption").last).to_contain_text("its limit is 1.000 cores")
    known.lists[WORKLOADS] = [workload_item(limits=used(300.0, 6 << 30))]
    page.reload()
    expect(cpu.locator(".caption").last).to_contain_text("100.000 cores, above this plot")
    expect(limit).to_have_count(0)


def test_who_may_not_see_advice_still_sees_use(page: Page, known: FakeBrain) -> None:
    known.refused |= {"/api/v1/advice", WORKLOADS}
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    expect(page.locator("#banner")).to_be_hidden()


def test_what_has_no_history_says_so(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    known.lists[ROWS] = []
    page.goto(f"{ORIGIN}/#history/shop/Deployment/other")
    expect(page.locator("#row-empty")).to_contain_text("Nothing is known of this workload")
    expect(page.locator("#row-plots article")).to_have_count(0)
    known.lists[ROWS] = [row()]
    known.documents[HISTORY] = history(figures={}, window={}, week=None)
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-empty")).to_contain_text("Nothing was reported of this time")


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
