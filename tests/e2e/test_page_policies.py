"""Policies are edited on the page: tried on what runs, then saved as they were tried."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessibility import SCHEMES, Scheme, complaints
from tests.fakes.console_brain import ORIGIN, FakeBrain, Json

POLICIES = "/api/v1/policies"
EVIL = "<img src=x onerror=alert(1)>\u202e"


TEXT = """# of the shop
apiVersion: nemutator.io/v1alpha1
kind: MutationPolicy
metadata:
  name: teams
spec:
  mode: Apply
  mutations:
  - labels:
      set:
        team: blue
"""


def policy(**changed: object) -> Json:
    document = {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "teams"},
        "spec": {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "blue"}}}]},
    }
    return {
        "name": "teams",
        "version": "7",
        "condition": "",
        "document": document,
        "mode": "Apply",
        "apply_to": "pod",
        "verbs": ["labels"],
        "fault": "",
        **changed,
    }


def preview(**changed: object) -> Json:
    edit = {"path": "metadata.labels[team]", "before": ["blue"], "after": [EVIL], "policy": "teams"}
    one = {
        "object": {"kind": "Pod", "namespace": "shop", "name": "api-0"},
        "edits": [edit],
        "refused": "",
        "warnings": [],
    }
    return {"mode": "Apply", "objects": 12, "more": False, "changed": 1, "items": [one], **changed}


@pytest.fixture
def brain(brain: FakeBrain) -> FakeBrain:
    brain.lists[POLICIES] = [policy(), policy(name="other", fault="spec.mode: expected Apply")]
    brain.documents[f"{POLICIES}/teams"] = policy(version="8", text=TEXT)
    brain.answers[f"{POLICIES}/preview"] = (200, preview(mode="Preview"))
    brain.answers[POLICIES] = (200, {"name": "teams", "outcome": "changed"})
    return brain


def test_a_policy_is_tried_then_saved_with_the_version_that_was_read(
    page: Page, brain: FakeBrain
) -> None:
    page.goto(f"{ORIGIN}/#policies")
    rows = page.locator("#list-rows tr")
    expect(rows.nth(0)).to_contain_text("pods, as they are created")
    expect(rows.nth(1)).to_contain_text("spec.mode: expected Apply")
    rows.nth(0).get_by_role("button", name="Edit").click()
    box, save = page.locator("#policy-text"), page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    # As it is now, with the version that goes with it: the list may be some seconds old.
    expect(box).to_have_value(TEXT)
    wanted = TEXT.replace("Apply", "Preview   # for now")
    box.fill(wanted)
    page.get_by_role("button", name="Try on what runs").click()
    expect(page.locator("#policy-lines li")).to_have_text(
        [
            "1 object of 12 would be different.",
            "In the mode Preview it writes nothing: this is what it would write in the mode Apply.",
            "Pod shop/api-0",
            "metadata.labels[team]",
            '"blue"',
            '"<img src=x onerror=alert(1)>\\u{202e}"',
            "by teams",
        ]
    )
    # What was typed stays as it was typed.
    expect(box).to_have_value(wanted)
    box.press("End")
    box.type(" ")
    expect(save).to_be_disabled()
    box.fill(wanted)
    page.get_by_role("button", name="Try on what runs").click()
    save.click()
    expect(page.locator("#policy")).to_be_hidden()
    expect(page.locator("#list-outcome")).to_have_text("teams: changed")
    assert brain.posted[-1] == (POLICIES, {"text": wanted, "version": "8", "name": "teams"})
    assert [target for target, _ in brain.posted].count(POLICIES) == 1


def test_a_fault_is_shown_in_its_line(page: Page, brain: FakeBrain) -> None:
    why = "line 7: spec.mode: expected one of Apply, Preview"
    brain.answers[f"{POLICIES}/preview"] = (409, {"error": why, "remedy": "correct these fields"})
    page.goto(f"{ORIGIN}/#policies")
    page.get_by_role("button", name="Edit").first.click()
    page.get_by_role("button", name="Try on what runs").click()
    expect(page.locator("#policy-outcome")).to_have_text(f"{why} → correct these fields")
    box = page.locator("#policy-text")
    expect(box).to_be_focused()
    chosen = box.evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)")
    assert chosen == "  mode: Apply"


def test_what_was_typed_is_not_lost_by_a_key(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#policies")
    page.get_by_role("button", name="Edit").first.click()
    box = page.locator("#policy-text")
    expect(box).to_be_focused()
    box.press("#")
    page.keyboard.press("Escape")
    expect(page.locator("#policy-outcome")).to_contain_text("This is not saved")
    expect(box).to_have_value(f"#{TEXT}")
    page.get_by_role("button", name="Leave it").click()
    page.get_by_role("button", name="Edit").first.click()
    expect(box).to_have_value(TEXT)
    page.keyboard.press("Escape")
    expect(page.locator("#policy")).to_be_hidden()


def test_a_refusal_keeps_the_text_and_names_the_remedy(page: Page, brain: FakeBrain) -> None:
    brain.answers[POLICIES] = (409, {"error": "it has changed", "remedy": "open it again"})
    page.goto(f"{ORIGIN}/#policies")
    page.get_by_role("button", name="Edit").first.click()
    box = page.locator("#policy-text")
    expect(box).to_have_value(TEXT)
    page.get_by_role("button", name="Try on what runs").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#policy-outcome")).to_have_text("it has changed → open it again")
    expect(box).to_have_value(TEXT)
    brain.documents.pop(f"{POLICIES}/teams")
    brain.refused.add(f"{POLICIES}/teams")
    page.get_by_role("button", name="Leave it").click()
    page.get_by_role("button", name="Edit").first.click()
    expect(page.locator("#policy-outcome")).to_have_text("no → none")
    expect(box).to_be_disabled()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_everybody_can_edit_also_on_a_telephone(
    page: Page, brain: FakeBrain, scheme: Scheme
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(f"{ORIGIN}/#policies")
    page.get_by_role("button", name="New policy").click()
    expect(page.locator("#policy-text")).to_have_value(re.compile("mode: Preview"))
    page.get_by_role("button", name="Try on what runs").click()
    expect(page.locator("#policy-lines li")).to_have_count(7)
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
