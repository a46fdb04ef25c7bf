"""The places of the page: walked without a mouse, in their order, and the same again after a reload."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.furnished import VIEWS, furnished
from tests.fakes.console_brain import ORIGIN, FakeBrain

FOLLOWS = """
window.walked = [];
document.addEventListener("focusin", ({ target }) => {
  const { outlineStyle } = getComputedStyle(target);
  const { width, height } = target.getBoundingClientRect();
  window.walked.push({ target, seen: outlineStyle !== "none" && width > 0 && height > 0 });
});
"""

TABBABLE = (
    "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, [tabindex='0']"
)

UNREACHED = """(tabbable) => {
    const name = (one) => `${one.tagName} ${one.id} ${one.textContent.trim().slice(0, 40)}`;
    const walked = window.walked.map(({ target }) => target);
    const shown = [...document.querySelectorAll(tabbable)].filter((one) => one.checkVisibility() && one.tabIndex >= 0);
    const before = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING;
    const once = walked.slice(0, shown.length);
    const back = once.slice(1).filter((one, index) => before(once[index], one));
    return [
        ...shown.filter((one) => !walked.includes(one)).map((one) => `not reached: ${name(one)}`),
        ...window.walked.filter(({ seen }) => !seen).map(({ target }) => `not seen: ${name(target)}`),
        // Once from the last one to the first: a place whose address names a part of the page begins there.
        ...back.slice(1).map((one) => `out of order: ${name(one)}`),
    ];
}"""


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = furnished()
    brain.serve(context)
    return brain


def test_each_place_is_walked_from_its_first_link_to_its_last(page: Page, brain: FakeBrain) -> None:
    page.add_init_script(FOLLOWS)
    wrong = {}
    for view, seen in VIEWS.items():
        page.goto("about:blank")
        page.goto(f"{ORIGIN}/#{view}")
        expect(page.locator(seen).first).to_be_visible()
        tabbable = page.locator(TABBABLE).locator("visible=true").count()
        # One more than there are: beyond the last one, the browser's own buttons would follow.
        for _ in range(tabbable + 1):
            page.keyboard.press("Tab")
        if found := page.evaluate(UNREACHED, TABBABLE):
            wrong[view] = found
    assert wrong == {}


def test_a_place_is_the_same_after_a_reload_and_after_one_has_come_back(
    page: Page, brain: FakeBrain
) -> None:
    narrowed = {
        "workloads/api": "#list-rows tr",
        "mutations/policies%3Alimits": "#list-rows tr",
        "history/shop/Deployment/api/app/1d": "#row-plots .plot",
        "workloads@berlin": "#list-rows tr",
    }
    brain.documents["/api/v1/clusters/berlin/workloads"] = brain.documents["/api/v1/workloads"]

    def shown() -> list[str]:
        head = page.locator("main:visible h1").inner_text(), page.title(), page.url
        return [*head, *(box.input_value() for box in page.locator("main input:visible").all())]

    places = VIEWS | narrowed
    before = {}
    for view, seen in places.items():
        page.goto(f"{ORIGIN}/#{view}")
        expect(page.locator(seen).first).to_be_visible()
        before[view] = shown()
        page.reload()
        expect(page.locator(seen).first).to_be_visible()
        assert shown() == before[view]
    for view, seen in list(places.items())[-2:0:-1]:
        page.go_back()
        expect(page.locator(seen).first).to_be_visible()
        assert shown() == before[view]


@pytest.mark.parametrize(
    ("view", "opens", "dialog"),
    [
        ("mutations", "Take back …", "#rollback"),
        ("mutations", "Diff", "#details"),
        ("policies", "Edit", "#policy"),
        ("policies", "New policy", "#policy"),
    ],
)
def test_a_dialog_keeps_the_focus_and_gives_it_back(
    page: Page, brain: FakeBrain, view: str, opens: str, dialog: str
) -> None:
    steps = [{"path": "metadata.labels[team]", "verdict": "reverse", "what": "is removed"}]
    brain.answers["/api/v1/mutations/m1/rollback?plan=true"] = (200, {"steps": steps})
    page.goto(f"{ORIGIN}/#{view}")
    opener = page.get_by_role("button", name=opens, exact=True).first
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator(dialog)).to_be_visible()
    # What is behind it is out of reach, however far one goes.
    for _ in range(12):
        page.keyboard.press("Tab")
        inside = f"document.activeElement === document.body || document.querySelector('{dialog}').contains(document.activeElement)"
        assert page.evaluate(inside)
    page.keyboard.press("Escape")
    expect(page.locator(dialog)).to_be_hidden()
    expect(opener).to_be_focused()
