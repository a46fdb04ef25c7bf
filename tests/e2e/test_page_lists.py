"""The lists beside the topology, in front of a brain that answers whatever a test wants it to."""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browsing import hold_clock, shown
from tests.fakes.console_brain import FakeBrain, Json
from tests.fakes.console_lists import (
    advice,
    ageing,
    grant,
    lease,
    missed,
    mutation,
    neighbour,
    profile,
)

PROFILES, MUTATIONS = "/api/v1/profiles", "/api/v1/mutations"
EVIL = "<img src=x onerror=alert(1)>\u202eevil"


def step(path: str, verdict: str, what: str) -> Json:
    return {"path": path, "verdict": verdict, "what": what}


def test_a_mutation_is_taken_back_after_its_plan_was_seen(page: Page, brain: FakeBrain) -> None:
    brain.lists[MUTATIONS] = [mutation()]
    path = f"{MUTATIONS}/m1/rollback?plan="
    steps = [
        step("metadata.labels[team]", "reverse", "is removed"),
        step("metadata.labels[cost]", "conflict", "stays as it is: somebody else has changed it"),
    ]
    brain.answers[f"{path}true"] = (200, {"steps": steps})
    brain.answers[f"{path}false"] = (200, {"state": "partly", "object": {"name": "api-0"}})
    rows = shown(page, "mutations")
    rows.get_by_role("button", name="Take back …").click()
    expect(page.locator("#rollback-steps li")).to_have_text(
        [
            "metadata.labels[team]is removed",
            "metadata.labels[cost]stays as it is: somebody else has changed it",
        ]
    )
    assert [target for target, _ in brain.posted] == [f"{path}true"]
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.locator("#list-outcome")).to_have_text("api-0: partly")
    assert [target for target, _ in brain.posted] == [f"{path}true", f"{path}false"]


def test_a_plan_that_is_left_changes_nothing(page: Page, brain: FakeBrain) -> None:
    brain.lists[MUTATIONS] = [mutation()]
    path = f"{MUTATIONS}/m1/rollback?plan=true"
    brain.answers[path] = (200, {"steps": [step("metadata.labels[team]", "already", "has it")]})
    shown(page, "mutations").get_by_role("button", name="Take back …").click()
    expect(page.locator("#rollback-do")).to_be_disabled()
    page.get_by_role("button", name="Leave it").click()
    expect(page.locator("#rollback")).not_to_be_visible()
    assert [target for target, _ in brain.posted] == [path]


def test_what_was_reversed_or_only_previewed_cannot_be_taken_back(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists[MUTATIONS] = [
        mutation(id="m1", state="reversed"),
        mutation(id="m2", mode="preview"),
    ]
    rows = shown(page, "mutations")
    expect(rows).to_have_count(2)
    expect(rows.get_by_role("button", name="Take back …")).to_have_count(0)


def test_a_missed_pod_says_why_and_what_was_done(page: Page, brain: FakeBrain) -> None:
    evicted = missed(uid="u2", name=EVIL, since=None, policies=[], result="evicted")
    brain.lists["/api/v1/missed-pods"] = [missed(), evicted]
    rows = shown(page, "missed-pods")
    cells = rows.nth(0).locator("td")
    expect(cells).to_have_text(
        [
            "shop/api-0",
            "told",
            "5 min ago",
            "teams",
            "it runs without the policies teams",
            "workload",
        ]
    )
    expect(cells.nth(0)).to_have_attribute("title", "Deployment api")
    said = ["shop/<img src=x onerror=alert(1)>\\u{202e}evil", "evicted", "—", "—"]
    expect(rows.nth(1).locator("td")).to_have_text(
        [*said, "it runs without the policies teams", "workload"]
    )
    page.locator("#list-filter").fill("told")
    expect(rows).to_have_count(1)


def test_a_leak_is_shown_with_its_rate_its_line_and_its_graph(page: Page, brain: FakeBrain) -> None:
    unjudged = ageing(id="w2", sites=[], stack=[], points=[], first_level=0, last_level=0, span_s=0)
    brain.lists["/api/v1/ageing"] = [ageing(), unjudged]
    rows = shown(page, "ageing")
    cells = rows.nth(0).locator("td")
    expect(cells.nth(0)).to_have_text("shop of shop/api")
    expect(cells.nth(1)).to_have_text("leak (provisional)")
    expect(cells.nth(2)).to_have_text("4.9 MB/min")
    expect(cells.nth(3)).to_have_text("main.remember main.go:84")
    expect(cells.nth(4)).to_have_text("heap from 20.0 MiB to 71.0 MiB in 11 min")
    assert (cells.nth(4).locator(".line").get_attribute("d") or "").count("L") == 11
    expect(rows.nth(0).locator("a")).to_have_text(["what grew", "folded", "profile", "workload"])
    expect(rows.nth(1).locator("a")).to_have_text(["profile", "workload"])
    expect(rows.nth(1).locator("td").nth(4)).to_have_text("—")
    rows.nth(0).get_by_role("button", name="Stack").click()
    expect(page.locator("#details-lines li").first).to_have_text("main.remember main.go:84")


def test_a_victim_is_shown_with_its_grades_and_the_one_that_it_suffers_from(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists["/api/v1/neighbours"] = [
        neighbour(),
        neighbour(
            name=EVIL, uid="u2", victim={"now": None, "usual": None, "worst": None, "why": EVIL}
        ),
    ]
    rows = shown(page, "neighbours")
    cells = rows.nth(0).locator("td")
    expect(cells.nth(0)).to_have_text("shop/api-0")
    expect(cells.nth(0)).to_have_attribute("title", "Deployment api")
    expect(cells.nth(2)).to_have_text("3 · 1 · — ★")
    expect(cells.nth(3)).to_have_text("0 · 0 · 0")
    expect(cells.nth(4)).to_contain_text("when jobs/batch-1 is busy")
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("— · — · —")
    expect(rows.nth(1).locator("img")).to_have_count(0)


def test_a_node_that_looks_at_nothing_for_now_is_named_with_the_remedy(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists["/api/v1/ageing"] = [ageing()]
    shown(page, "ageing")
    expect(page.locator("#list-about")).not_to_contain_text("wait")
    why, remedy = "a look takes 9 s\u202e of CPU time", "windows go on by themselves"
    brain.paused = [{"node": "n1", "reason": "cpu", "why": why, "remedy": remedy}]
    about = page.locator("#list-about")
    expect(about).to_contain_text("Unasked looks wait on n1: a look takes 9 s")
    expect(about).to_contain_text("→ windows go on by themselves.")
    assert "\u202e" not in about.inner_text()


def test_advice_is_a_value_or_the_reason_why_not_yet(page: Page, brain: FakeBrain) -> None:
    waiting = {"state": "not_yet", "reason": "3 of 8 points, ask again in 75 s"}
    brain.lists["/api/v1/advice"] = [
        advice(),
        advice(container="b", **waiting, points=3, span_s=45, requests={}, requests_now={}),
    ]
    rows = shown(page, "advice")
    expect(rows.nth(0).locator("td").nth(3)).to_contain_text("1 → 260m")
    expect(rows.nth(0).locator("td").nth(4)).to_contain_text("— → 241M")
    expect(rows.nth(1).locator("td").nth(3)).to_contain_text("—\np50")
    expect(rows.nth(1).locator("td").nth(3)).to_have_attribute(
        "title", "3 of 8 points, ask again in 75 s"
    )


def test_what_runs_in_no_group_is_called_as_a_path_is(page: Page, brain: FakeBrain) -> None:
    brain.lists["/api/v1/advice"] = [advice(namespace="/", owner="sshd")]
    expect(shown(page, "advice").locator("td").first).to_have_text("/sshd")


def test_leases_and_grants_say_who_and_never_what(page: Page, brain: FakeBrain) -> None:
    brain.lists["/api/v1/leases"] = [lease()]
    denied = grant(result="denied", reason="Vault denies it")
    brain.lists["/api/v1/grants"] = [denied, denied]
    expect(shown(page, "leases")).to_contain_text("shop/api-0shop.apiactive")
    expect(shown(page, "grants")).to_have_count(2)
    expect(page.locator("#list-rows tr").first).to_contain_text("read dbdeniedVault denies it")


def test_a_rotation_is_seen_with_all_that_followed_it(page: Page, brain: FakeBrain) -> None:
    now = time.time()
    read = grant(at=now - 60, version=3)
    brain.lists["/api/v1/grants"] = [read]
    hold_clock(page)
    rows = shown(page, "grants")
    expect(rows).to_have_count(1)
    uncaught = "HUP@web: uncaught; let the container's first process catch this signal"
    brain.lists["/api/v1/grants"] = [
        grant(at=now - 1, operation="signal", secret="", result="failed", reason=uncaught),
        grant(at=now - 2, operation="rotate", version=4),
        grant(at=now - 2, operation="rotate", secret="pg"),
        read,
    ]
    page.clock.run_for(3100)
    what = page.locator("#list-rows td:nth-child(3)")
    expect(what).to_have_text(["signal", "rotate db, version 4", "rotate pg", "read db, version 3"])
    expect(rows.first).to_contain_text(uncaught)
    page.locator("#list-filter").fill("rotate shop/api-0")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("granted")


@pytest.mark.parametrize(
    "view", ["profiles", "mutations", "missed-pods", "advice", "leases", "grants"]
)
def test_an_empty_list_says_what_would_be_there(page: Page, brain: FakeBrain, view: str) -> None:
    expect(shown(page, view)).to_have_count(0)
    expect(page.locator("#list-empty")).not_to_be_empty()
    expect(page.locator("#list-empty")).to_be_visible()


def test_names_of_strangers_are_text_and_nothing_else(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile(title=EVIL, notes=[EVIL], reason=EVIL)]
    cell = shown(page, "profiles").locator("td").first
    expect(cell).to_have_text(EVIL.replace("\u202e", "\\u{202e}"))
    expect(page.locator("#list-rows img")).to_have_count(0)


def test_the_topology_is_one_click_away(page: Page, brain: FakeBrain) -> None:
    shown(page, "leases")
    page.get_by_role("link", name="Topology", exact=True).click()
    expect(page.locator("#machine-name")).to_have_text("edge-1")
    expect(page.locator("#lists")).to_be_hidden()
    page.go_back()
    expect(page.locator("#list-title")).to_have_text("Leases")


def test_a_lost_brain_is_said_above_the_last_answer(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile()]
    hold_clock(page)
    rows = shown(page, "profiles")
    expect(rows).to_have_count(1)
    brain.status = None
    page.clock.run_for(3100)
    expect(page.locator("#banner")).to_contain_text("does not answer")
    expect(page.locator("#freshness")).to_contain_text("last seen 3 s ago")
    expect(rows).to_have_count(1)


def test_a_long_list_stays_fluent_and_a_filter_finds_the_rest(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile(id=f"a{n}", title=f"shop/api-{n}") for n in range(1_000)]
    rows = shown(page, "profiles")
    expect(rows).to_have_count(200)
    expect(page.locator("#list-shown")).to_have_text("1000 rows, the first 200 are shown")
    page.keyboard.press("/")
    page.keyboard.type("API-999 done")
    expect(rows).to_have_count(1)
    expect(page.locator("#list-shown")).to_have_text("1 of 1000 rows")
    page.keyboard.type(" nothing")
    expect(page.locator("#list")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(rows).to_have_count(200)
    page.get_by_role("link", name="Leases").click()
    expect(page.locator("#list-filter")).to_be_hidden()
