"""The list of profiles, and the form that asks for one."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.browsing import hold_clock, shown
from tests.fakes.console_brain import ORIGIN, FakeBrain
from tests.fakes.console_lists import profile, profile_target

PROFILES, TARGETS = "/api/v1/profiles", "/api/v1/profile-targets"


def test_a_profile_leads_to_its_flame_graph_and_files(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile()]
    rows = shown(page, "profiles")
    expect(rows).to_have_count(1)
    expect(rows.locator("td").nth(0)).to_have_text("shop/api-0")
    expect(rows.locator("td").nth(5)).to_have_text("no stack 2")
    assert "3.00 s" in (rows.locator("td").nth(4).get_attribute("title") or "")
    links = rows.locator("a")
    expect(links).to_have_text(["flame graph", "folded", "pprof"])
    expect(links.first).to_have_attribute("href", f"{PROFILES}/a1/flamegraph")


def test_two_profiles_are_ticked_and_compared_the_earlier_first(
    page: Page, brain: FakeBrain
) -> None:
    brain.lists[PROFILES] = [
        profile(id="c3", asked_at=300.0),
        profile(id="b2", asked_at=200.0),
        profile(id="a1", asked_at=100.0),
        profile(id="d4", asked_at=400.0, measure="heap"),
        profile(id="e5", state="running"),
    ]
    rows = shown(page, "profiles")
    boxes, compare = rows.get_by_label("compare"), page.locator("#compare")
    expect(boxes).to_have_count(4)
    boxes.nth(0).check()
    expect(compare).to_be_hidden()
    boxes.nth(1).check()
    expect(compare).to_have_attribute("href", f"{PROFILES}/b2/difference/c3")
    boxes.nth(2).check()
    expect(compare).to_have_attribute("href", f"{PROFILES}/a1/difference/b2")
    expect(boxes.nth(0)).not_to_be_checked()
    boxes.nth(3).check()
    expect(compare).to_be_hidden()
    expect(boxes.nth(1)).not_to_be_checked()


def test_a_profile_that_was_refused_says_why(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [
        profile(state="refused", reason="no BPF", remedy="run as root", notes=[], grade=None)
    ]
    rows = shown(page, "profiles")
    said = rows.locator("td").last.locator("xpath=preceding-sibling::td[1]")
    assert said.inner_text() == "no BPF\nRemedy: run as root"
    expect(rows.locator("a")).to_have_count(0)


def test_a_profile_is_asked_for_by_a_form(page: Page, brain: FakeBrain) -> None:
    brain.answers[PROFILES] = (202, profile(state="asked"))
    shown(page, "profiles")
    page.locator("#ask input[name=target]").fill("pid:12")
    page.get_by_role("button", name="Profile").click()
    expect(page.locator("#ask-answer")).to_have_text("asked for")
    question = {"target": {"kind": "pid", "value": "12"}, "seconds": 10, "hz": 99}
    assert brain.posted == [(PROFILES, question)]


def test_a_heap_is_asked_for_by_the_same_form(page: Page, brain: FakeBrain) -> None:
    brain.answers[PROFILES] = (202, profile(state="asked", measure="heap"))
    brain.lists[PROFILES] = [profile(measure="heap", seconds=0.0, hz=0, cpu_seconds=None)]
    rows = shown(page, "profiles")
    expect(rows.locator("td").nth(3)).to_have_text("heap")
    page.locator("#ask input[name=target]").fill("pid:12")
    page.get_by_role("button", name="Heap").click()
    expect(page.locator("#ask-answer")).to_have_text("asked for")
    question = {"target": {"kind": "pid", "value": "12"}, "measure": "heap"}
    assert brain.posted == [(PROFILES, question)]


def test_a_question_that_is_refused_is_shown_with_its_remedy(page: Page, brain: FakeBrain) -> None:
    brain.answers[PROFILES] = (404, {"error": "no such pod", "remedy": "look in the topology"})
    shown(page, "profiles")
    page.locator("#ask input[name=target]").fill("shop/api-0")
    page.get_by_role("button", name="Profile").click()
    expect(page.locator("#ask-answer")).to_have_text("no such pod → look in the topology")


def test_a_profile_is_started_by_picking_its_target(page: Page, brain: FakeBrain) -> None:
    brain.answers[PROFILES] = (202, profile(state="asked"))
    brain.lists[TARGETS] = [
        profile_target(),
        profile_target(value="8", target="pid:8", name="sell\u202e", runtime="python", within=""),
    ]
    shown(page, "profiles")
    rows = page.locator("#targets-rows tr")
    expect(rows.nth(0).locator("bdi")).to_have_text(
        ["shop", "shop.service", "Go 1.26.8", "2 h", "0.250", "pid:7", "edge-1"]
    )
    expect(rows.nth(1).locator("bdi").first).to_have_text("sell\\u{202e}")
    expect(rows.nth(1).get_by_role("button")).to_have_text(["CPU", "Off CPU"])
    rows.nth(0).get_by_role("button", name="Heap").click()
    expect(page.locator("#ask-answer")).to_have_text("asked for")
    box = page.locator("#ask input[name=target]")
    box.fill("se")
    box.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#ask-answer")).to_have_text("asked for")
    named = {"kind": "pid", "value": "8", "node": "edge-1"}
    heap = {"target": {**named, "value": "7"}, "measure": "heap"}
    assert brain.posted[0] == (PROFILES, heap)
    assert brain.posted[1:] == [(PROFILES, {"target": named, "seconds": 10, "hz": 99})]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()


def test_targets_are_looked_for_at_once_as_one_types(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile()]
    shown(page, "profiles")
    for word in ("se", "sel"):
        with page.expect_response(re.compile(f"search={word}$")):
            page.locator("#ask input[name=target]").fill(word)


def test_a_profile_that_is_followed_is_no_reason_to_look_for_targets(
    page: Page, brain: FakeBrain
) -> None:
    hold_clock(page)
    page.goto(f"{ORIGIN}/icon.svg")

    def refreshed(search: str) -> tuple[int, int]:
        page.evaluate(
            """async (search) => {
                const m = await import("/polling.js");
                m.goTo("#profiles");
                m.state.search = search;
                await m.refresh();
            }""",
            search,
        )
        return brain.asked.count(PROFILES), brain.asked.count(TARGETS)

    assert [refreshed(search) for search in ("", "", "", "se", "se")] == [
        (1, 1), (2, 1), (3, 1), (4, 2), (5, 2),
    ]  # fmt: skip
    page.clock.run_for(3000)
    assert refreshed("se") == (6, 3)


def test_who_may_not_see_the_topology_can_type_a_target(page: Page, brain: FakeBrain) -> None:
    brain.lists[PROFILES] = [profile()]
    brain.refused.add(TARGETS)
    expect(shown(page, "profiles")).to_have_count(1)
    expect(page.locator("#targets")).to_be_hidden()
    expect(page.locator("#ask")).to_be_visible()


def test_a_profile_in_the_making_shows_its_phase_without_a_reload(
    page: Page, brain: FakeBrain
) -> None:
    sampling = {"state": "running", "phase": "sampling", "left_s": 11.2, "recorded": 0}
    brain.lists[PROFILES] = [profile(**sampling)]
    state = shown(page, "profiles").locator("td").nth(1)
    expect(state).to_have_text("sampling, 12 s left")
    brain.lists[PROFILES] = [
        profile(state="running", phase="symbolising", left_s=None, recorded=70)
    ]
    expect(state).to_have_text("symbolising")
    expect(page.locator("#list-rows td").nth(4)).to_have_text("70")
    brain.lists[PROFILES] = [profile()]
    expect(state).to_have_text("done")


def test_what_is_no_target_is_not_asked_for(page: Page, brain: FakeBrain) -> None:
    shown(page, "profiles")
    page.locator("#ask input[name=target]").fill("every thing")
    page.get_by_role("button", name="Profile").click()
    expect(page.locator("#ask-answer")).to_contain_text("pid:1234")
    assert brain.posted == []
