"""The seasons on the page: what is in force and why, what is expected, and how a switch is taken back."""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.browsing import shown
from tests.fakes.console_brain import FakeBrain, Json

SEASONS = "/api/v1/seasons"
EVIL = "<img src=x onerror=alert(1)>\u202eevil"


def workload(**changed: object) -> Json:
    expected = [0.1] * 48 + [0.9] * 48
    return {
        "namespace": "shop",
        "kind": "Deployment",
        "name": "web",
        "season": "peak",
        "since": time.time() - 600,
        "seasonal": True,
        "reason": "held-out days were foretold 70% better than by a median",
        "skill": 0.7,
        "coverage": 0.91,
        "days": 9,
        "planned_at": time.time() - 7_200,
        "spans": [
            {"season": "off-peak", "begin": "00:00", "end": "11:45"},
            {"season": "peak", "begin": "12:00", "end": "00:00"},
        ],
        "day": {
            "step_s": 900.0,
            "expected": expected,
            "lower": expected,
            "upper": expected,
            "used": [0.1] * 50 + [None] * 46,
            "seasons": ["off-peak"] * 48 + ["peak"] * 48,
        },
        **changed,
    }


def document(**changed: object) -> Json:
    return {
        "calendar": {"day_s": 120.0, "slot_s": 15.0, "zone": "UTC", "compressed": True},
        "cluster": workload(namespace="", kind="", name="", season="off-peak"),
        "switches": [
            {
                "kind": "SeasonPolicy",
                "name": "busy-hours",
                "in_force": True,
                "since": time.time() - 60,
                "why": "the season of the cluster is peak",
                "decision": "d1",
                "held": False,
            }
        ],
        "counts": {"peak": 1, "unknown": 1},
        "items": [
            workload(),
            workload(
                name=EVIL,
                season="unknown",
                seasonal=None,
                reason="2 whole days of use are known, and 4 are needed",
                skill=None,
                coverage=None,
                planned_at=None,
                spans=[],
                day=None,
            ),
        ],
        "left_off": 3,
        **changed,
    }


@pytest.fixture
def brain(brain: FakeBrain) -> FakeBrain:
    brain.documents[SEASONS] = document()
    return brain


def test_what_is_in_force_comes_first_then_all_then_each(page: Page, brain: FakeBrain) -> None:
    rows = shown(page, "seasons")
    expect(rows).to_have_count(4)
    expect(rows.nth(0).locator("td").nth(0)).to_have_text("SeasonPolicy busy-hours")
    expect(rows.nth(0).locator("td").nth(1)).to_have_text("in force")
    expect(rows.nth(0).locator("td").nth(3)).to_have_text("the season of the cluster is peak")
    expect(rows.nth(1).locator("td").nth(0)).to_have_text("all together")
    expect(rows.nth(2).locator("td").nth(0)).to_have_text("Deployment shop/web")
    expect(rows.nth(2).locator("td").nth(1)).to_have_text("peak")
    expect(rows.nth(2)).to_contain_text("peak from 12:00 to 00:00")
    expect(rows.nth(2)).to_contain_text("70 % better than a median")
    assert rows.nth(2).locator("path.line").get_attribute("d")
    expect(rows.nth(3)).to_contain_text("2 whole days of use are known, and 4 are needed")
    expect(page.locator("#list-about")).to_contain_text("A day here takes 2 min.")
    expect(page.locator("#list-about")).to_contain_text("3 more: nemutator seasons finds them.")


def test_strangers_names_are_text(page: Page, brain: FakeBrain) -> None:
    rows = shown(page, "seasons")
    expect(rows).to_have_count(4)
    assert page.locator("#list-rows img").count() == 0


def test_a_switch_is_taken_back_as_a_mutation_is(page: Page, brain: FakeBrain) -> None:
    path = "/api/v1/mutations/d1/rollback"
    step = {"path": "metadata.annotations[nemutator.io/in-force]", "verdict": "reverse"}
    brain.answers[f"{path}?plan=true"] = (200, {"steps": [{**step, "what": "true → false"}]})
    brain.answers[f"{path}?plan=false"] = (
        200,
        {"object": {"name": "busy-hours"}, "state": "reversed"},
    )
    rows = shown(page, "seasons")
    rows.nth(0).get_by_role("button", name="Take back").click()
    expect(page.locator("#rollback-steps li")).to_have_count(1)
    page.locator("#rollback-do").click()
    expect(page.locator("#list-outcome")).to_have_text("busy-hours: reversed")
    assert [target for target, _ in brain.posted] == [f"{path}?plan=true", f"{path}?plan=false"]


def test_a_season_that_changes_is_seen_without_reloading(page: Page, brain: FakeBrain) -> None:
    rows = shown(page, "seasons")
    expect(rows.nth(2).locator("td").nth(1)).to_have_text("peak")
    brain.documents[SEASONS] = document(items=[workload(season="off-peak")])
    expect(rows.nth(2).locator("td").nth(1)).to_have_text("off-peak", timeout=60_000)


@pytest.fixture(params=SCHEMES)
def seen(page: Page, brain: FakeBrain, request: pytest.FixtureRequest) -> Page:
    """In each scheme, and without transitions: axe would measure a colour on its way."""
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")
    return page


def test_everybody_can_use_it(seen: Page, brain: FakeBrain) -> None:
    page = seen
    expect(shown(page, "seasons")).to_have_count(4)
    assert complaints(page) == []
    brain.documents[SEASONS] = document(switches=[], cluster=None, items=[], left_off=0)
    page.reload()
    expect(page.locator("#list-empty")).to_be_visible()
    assert complaints(page) == []
