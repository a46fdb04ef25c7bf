"""Pictures of the page for the documentation, from the page itself.

With NEMUTATOR_PICTURES=docs/images they are taken anew:

    NEMUTATOR_PICTURES=docs/images make e2e ARGS=tests/e2e/test_page_pictures.py
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.accessibility import SCHEMES, Scheme
from tests.e2e.furnished import VIEWS, furnished
from tests.fakes.console_brain import ORIGIN, FakeBrain

LARGEST = 160_000
"""Bytes: they are kept in the repository."""

SHORT = {
    "capacity",
    "workloads",
    "profiles",
    "seasons",
    "leases",
    "audit",
    "topology",
    "clusters",
    "ageing",
    "neighbours",
    "scalers",
    "oversell",
    "missed",
}
"""Lists of a few rows."""


@pytest.fixture
def brain(context: BrowserContext) -> FakeBrain:
    brain = furnished()
    brain.serve(context)
    return brain


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_page_has_its_picture(
    page: Page, brain: FakeBrain, scheme: Scheme, tmp_path: Path
) -> None:
    folder = Path(os.environ.get("NEMUTATOR_PICTURES", tmp_path))
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 1280, "height": 720})
    places = {
        "overview": ("#overview", "#wrong-lines a", None),
        "capacity": ("#capacity", "#list-rows tr", None),
        "workloads": ("#workloads", "#list-rows tr", None),
        "profiles": ("#profiles", "#list-rows tr", None),
        "seasons": ("#seasons", "#list-rows .graph", None),
        "leases": ("#leases", "#list-rows tr", None),
        "audit": ("#grants", "#list-rows tr", None),
        "workload": ("#history/shop/Deployment/api", "#row-plots .plot", None),
        "advice": ("#advice", "#list-rows tr", None),
        "flows": ("#flows", "#map-boxes g", None),
        "mutations": ("#mutations", "#list-rows tr", "Diff"),
        "policies": ("#policies", "#list-rows tr", "Edit"),
        **{
            name: (f"#{place}", VIEWS[place], None)
            for name, place in (
                ("topology", "topology"),
                ("machine", "topology/edge-1"),
                ("clusters", "clusters"),
                ("ageing", "ageing"),
                ("neighbours", "neighbours"),
                ("scalers", "scalers"),
                ("oversell", "oversell"),
                ("missed", "missed-pods"),
            )
        },
    }
    for name, (hash_, shown, button) in places.items():
        page.goto(f"{ORIGIN}/{hash_}")
        expect(page.locator(shown).first).to_be_visible()
        if button is not None:
            page.get_by_role("button", name=button, exact=True).first.click()
        if button == "Edit":
            page.locator("#policy-text").evaluate("box => { box.rows = 12; }")
            page.get_by_role("button", name="Try on what runs").click()
            expect(page.locator("#policy-lines li")).to_have_count(6)
        if name in SHORT:
            page.set_viewport_size({"width": 1280, "height": 440})
        taken = page.screenshot(path=folder / f"{name}-{scheme}.png")
        page.set_viewport_size({"width": 1280, "height": 720})
        assert taken.startswith(b"\x89PNG")
        assert len(taken) < LARGEST, name
        if button is not None:
            page.keyboard.press("Escape")
