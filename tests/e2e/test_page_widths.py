"""Each place of the page fits the windows that people have, whatever things are called."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.furnished import VIEWS, furnished
from tests.fakes.console_brain import ORIGIN, FakeBrain

WIDTHS = (360, 768, 1280, 1920)
EVIL = "<img src=x onerror=alert(1)>\u202e\U0001f980\u0627\u0644"
LONGEST = (EVIL + "n" * 253)[:253]

NAMES = {
    "name", "owner", "pod", "node", "title", "program", "reason", "why", "policy", "role", "fault", "condition",
    "target", "problem", "remedy", "secret", "caller", "by", "sentence", "message",
}  # fmt: skip
"""Fields of items that strangers write."""


def renamed(found: Any, name: str) -> Any:
    """*found* with *name* in the place of each text that a stranger may have written."""
    if isinstance(found, list):
        return [renamed(each, name) for each in found]
    if not isinstance(found, dict):
        return found
    return {
        key: name if key in NAMES and isinstance(value, str) else renamed(value, name)
        for key, value in found.items()
    }


def hostile(brain: FakeBrain) -> None:
    for path, items in brain.lists.items():
        brain.lists[path] = renamed(items, LONGEST)
    for path, document in brain.documents.items():
        brain.documents[path] = renamed(document, LONGEST)


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = furnished()
    brain.serve(context)
    return brain


DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
"""A plot takes its new width once it has seen that of the window."""

TOO_WIDE = """() => [...document.querySelectorAll("main:not([hidden]) .scrolling")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""


@pytest.mark.parametrize("names", ["usual", "hostile"])
def test_no_window_is_scrolled_sideways(page: Page, brain: FakeBrain, names: str) -> None:
    if names == "hostile":
        hostile(brain)
    wrong = []
    for view, seen in VIEWS.items():
        page.goto(f"{ORIGIN}/#{view}")
        expect(page.locator(seen).first).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(DRAWN)
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                wrong.append(f"{view} is {wide} wide at {width}")
            # Lists of usual names need no scrolling where people mostly read them.
            if names == "usual" and width >= 1280 and page.evaluate(TOO_WIDE):
                wrong.append(f"the list of {view} is scrolled at {width}")
    assert wrong == []
