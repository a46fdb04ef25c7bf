"""The page of a workload: what it used, and what was found of it."""

import re
import time

from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.browsing import DRAWN, hold_clock, layers
from tests.e2e.canvases import places
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_inventory import (
    HISTORY,
    ROWS,
    WORKLOADS,
    history,
    row,
    used,
    workload_item,
)
from tests.fakes.console_lists import ageing, grant, lease, mutation, neighbour, profile

EVIL = '<img src=x onerror=alert(1)>\u202eevil"'


def test_a_workload_leads_to_its_history(page: Page, known: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#workloads")
    page.locator("#list-rows tr").get_by_role("link", name="history").click()
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
    flame = page.locator("#row-after svg")
    expect(flame.locator("rect")).to_have_count(5)
    widths = [each.get_attribute("width") for each in flame.locator("rect").all()]
    assert widths == ["599.50", "599.50", "593.50", "359.50", "233.50"]
    expect(page.locator("#row-after figcaption")).to_contain_text("CPU time")
    expect(page.locator("#row-after figcaption")).to_contain_text("60 % in parse, 39 % in <img")
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


def test_two_profiles_stand_beside_each_other(page: Page, known: FakeBrain) -> None:
    known.lists["/api/v1/profiles"] = [
        profile(id="new", workload="shop/api", asked_at=9.0),
        profile(id="old", workload="shop/api", asked_at=1.0),
        profile(id="heap", workload="shop/api", asked_at=5.0, measure="heap"),
    ]
    known.texts["/api/v1/profiles/new/folded"] = f"main;parse 60\nmain;{EVIL} 40\n"
    known.texts["/api/v1/profiles/old/folded"] = "main;parse 20\nmain;write 80\n"
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api/app/1h")
    beside = page.get_by_label("beside")
    expect(page.locator("#row-after rect")).to_have_count(4)
    expect(page.locator("#row-before")).to_be_hidden()
    # Memory is no share of CPU time.
    expect(beside.locator("option")).to_have_text(["nothing", re.compile("^CPU time, ")])
    beside.select_option("old")
    expect(page.locator("#row-before rect")).to_have_count(4)
    lines = page.locator("#row-profile-changes li")
    expect(lines).to_have_text(
        ["write: 80 % → 0 %", re.compile("<img .*evil.*: 0 % → 40 %"), "parse: 20 % → 60 %"]
    )
    grown = page.locator("#row-after g[data-change=more] title")
    expect(grown).to_have_text(
        ["parse: 60 %, in the other 20 %", re.compile("evil.*40 %, in the other 0 %")]
    )
    gone = page.locator("#row-before g[data-change=less] title")
    expect(gone).to_have_text(["write: 80 %, in the other 0 %"])
    whole = page.get_by_role("link", name="The whole difference")
    expect(whole).to_have_attribute("href", "/api/v1/profiles/old/difference/new")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert complaints(page) == []
    # It is a place of its own.
    assert page.url.endswith("#history/shop/Deployment/api/app/1h//new/old")
    page.reload()
    expect(beside).to_have_value("old")
    page.get_by_label("Show").select_option("heap")
    expect(page.locator("#row-before")).to_be_hidden()
    expect(beside).to_be_hidden()


def test_its_secrets_are_named_and_never_shown(page: Page, known: FakeBrain) -> None:
    now = time.time()
    known.lists["/api/v1/leases"] = [
        lease(role="shop.api"),
        lease(role="shop.api", pod="api-1"),
        lease(role="old", state="revoked"),
    ]
    known.lists["/api/v1/grants"] = [
        grant(at=now - 10, secret="db", version=3),
        grant(at=now - 600, secret="db", version=2, pod="api-1"),
        grant(at=now - 60, secret=EVIL, result="denied", reason="no policy allows it"),
        grant(at=now - 5, operation="login", secret=""),
    ]
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    lines = page.locator("#row-secrets-lines li > span")
    expect(lines).to_have_text(
        [
            re.compile("Vault token of the role shop.api: active in 2 pods, the next expires in "),
            "Vault token of the role old: revoked in 1 pod",
            re.compile("read <img .*evil.*: denied: no policy allows it, .* ago by api-0"),
            re.compile("read db, version 3: granted, .* ago by 2 pods, 2 times"),
        ]
    )
    expect(lines.nth(2)).to_have_attribute("data-grade", "suffer")
    asked = dict(zip(known.asked, known.queries, strict=True))
    for path in ("/api/v1/leases", "/api/v1/grants"):
        assert asked[path] == "namespace=shop&workload=Deployment%2Fapi&limit=100"
    assert complaints(page) == []


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


def test_a_part_that_does_not_come_leaves_the_others_and_what_was_there(
    page: Page, known: FakeBrain
) -> None:
    known.lists["/api/v1/ageing"] = [ageing()]
    known.silent = {"/api/v1/mutations", "/api/v1/neighbours"}
    hold_clock(page)
    page.goto(f"{ORIGIN}/#history/shop/Deployment/api")
    expect(page.locator("#row-plots article")).to_have_count(2)
    expect(page.locator("#row-ageing-lines li")).to_have_count(1)
    known.silent.add("/api/v1/ageing")
    # The second question comes once the first has been shown.
    for _ in range(2):
        with page.expect_response(re.compile("/api/v1/ageing")):
            page.clock.run_for(3100)
    expect(page.locator("#row-ageing-lines li")).to_have_count(1)
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
