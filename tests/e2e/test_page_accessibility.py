"""Everybody can use the page: axe finds nothing on any part of it, in either colour scheme."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.furnished import VIEWS as FURNISHED
from tests.e2e.furnished import furnished
from tests.fakes.console_brain import ORIGIN, FakeBrain, node, process
from tests.fakes.console_lists import (
    advice,
    ageing,
    grant,
    lease,
    missed,
    mutation,
    neighbour,
    profile,
    profile_target,
)

LISTS = {
    "/api/v1/profiles": [
        profile(),
        profile(id="a2", state="refused", reason="no BPF", remedy="run as root"),
        profile(id="a3", state="running", notes=["word " * 60]),
    ],
    "/api/v1/profile-targets": [profile_target(), profile_target(target="pid:8", runtime=None)],
    "/api/v1/mutations": [
        mutation(),
        mutation(id="m2", state="conflict"),
        mutation(id="m3", mode="preview"),
        mutation(id="m4", state="partly"),
    ],
    "/api/v1/missed-pods": [missed(), missed(uid="u2", result="evicted", policies=[])],
    "/api/v1/advice": [advice(), advice(container="b", state="provisional", reason="3 points")],
    "/api/v1/ageing": [
        ageing(),
        ageing(id="w2", verdict="drift", measure="goroutines", sites=[], stack=[]),
        ageing(
            id="w3", verdict="steady", state="firm", rate="", first_seen=None, sites=[], stack=[]
        ),
        ageing(id="w4", verdict="cannot tell", rate="", readings=0, points=[], sites=[], stack=[]),
    ],
    "/api/v1/neighbours": [
        neighbour(),
        neighbour(uid="u2", victim={"now": 1, "usual": 0, "worst": 2, "why": "word " * 60}),
    ],
    "/api/v1/leases": [lease(), lease(role="other", state="expired")],
    "/api/v1/grants": [grant(), grant(result="denied", reason="Vault denies it")],
}


VIEWS = [
    "profiles",
    "mutations",
    "missed-pods",
    "advice",
    "ageing",
    "neighbours",
    "leases",
    "grants",
]


@pytest.fixture
def brain(brain: FakeBrain) -> FakeBrain:
    brain.lists = dict(LISTS)
    return brain


@pytest.fixture(params=SCHEMES)
def page(page: Page, brain: FakeBrain, request: pytest.FixtureRequest) -> Page:
    """In each scheme, and without transitions: axe would measure a colour on its way."""
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")
    return page


def test_the_machine_and_what_runs_on_it(page: Page, brain: FakeBrain) -> None:
    crowd = [process(pid, f"worker-{pid}", "/") for pid in range(1000, 1100)]
    brain.nodes = [node(processes=[*brain.node["processes"], *crowd])]
    brain.node["machine"]["pressures"]["io"]["some_10s"] = 55.0
    page.goto(ORIGIN)
    expect(page.locator("#machine-name")).to_be_visible()
    page.get_by_role("button", name="Expand all").click()
    assert complaints(page) == []
    page.locator("#tree tbody tr").first.focus()
    assert complaints(page) == []


def test_the_list_of_nodes(page: Page, brain: FakeBrain) -> None:
    brain.nodes = [node(), node(name="edge-2", stale=True, age_s=900.0)]
    page.goto(f"{ORIGIN}/#topology")
    expect(page.locator("#nodes-table tbody tr")).to_have_count(2)
    assert complaints(page) == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_list_and_an_empty_one(page: Page, brain: FakeBrain, view: str) -> None:
    page.goto(f"{ORIGIN}/#{view}")
    expect(page.locator("#list-rows tr")).to_have_count(len(LISTS[f"/api/v1/{view}"]))
    assert complaints(page) == []
    brain.lists.clear()
    page.reload()
    expect(page.locator("#list-empty")).to_be_visible()
    assert complaints(page) == []


def test_each_place_on_a_telephone(context: BrowserContext, page: Page) -> None:
    context.unroute_all()
    furnished().serve(context)
    page.set_viewport_size({"width": 360, "height": 800})
    found = {}
    for view, seen in FURNISHED.items():
        page.goto(f"{ORIGIN}/#{view}")
        expect(page.locator(seen).first).to_be_visible()
        if wrong := complaints(page):
            found[view] = wrong
    assert found == {}


def test_a_list_that_is_wider_than_the_window_is_scrolled_by_keyboard(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{ORIGIN}/#advice")
    expect(page.locator("#list-rows tr")).to_have_count(2)
    assert complaints(page) == []
    region = page.get_by_role("region", name="Advice")
    # The page's own policy forbids to evaluate text, which `wait_for_function` does at each look.
    region.evaluate("it => it.addEventListener('scroll', () => { it.dataset.scrolled = 'yes' })")
    region.focus()
    page.keyboard.press("ArrowRight")
    expect(region).to_have_attribute("data-scrolled", "yes")
    assert region.evaluate("it => it.scrollLeft") > 0


def test_the_last_answer_below_a_banner(page: Page, brain: FakeBrain) -> None:
    brain.nodes = [node(stale=True, age_s=95.0)]
    page.goto(ORIGIN)
    expect(page.locator("#banner")).to_be_visible()
    assert complaints(page) == []


def test_what_taking_back_would_do(page: Page, brain: FakeBrain) -> None:
    steps = [
        {"path": "metadata.labels[team]", "verdict": "reverse", "what": "is removed"},
        {"path": "metadata.labels[cost]", "verdict": "conflict", "what": "stays as it is"},
    ]
    brain.answers["/api/v1/mutations/m1/rollback?plan=true"] = (200, {"steps": steps})
    page.goto(f"{ORIGIN}/#mutations")
    page.get_by_role("button", name="Take back …").first.click()
    expect(page.locator("#rollback-steps li")).to_have_count(2)
    assert complaints(page) == []
