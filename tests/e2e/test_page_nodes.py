"""The list of nodes, where the page begins when there is more than one."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.fakes.console_brain import ORIGIN, FakeBrain, Json, node, pressures, workload

HOSTILE = "<img src=x onerror=alert(1)>"


def small(name: str, **changed: object) -> Json:
    return node(name=name, workloads=[workload("/", "root")], processes=[], **changed)


def busy(name: str, cpu_cores: float | None, io: float = 0.0) -> Json:
    made = small(name)
    made["machine"] |= {"cpu_cores": cpu_cores, "pressures": pressures(io=io)}
    return made


@pytest.fixture
def brain(brain: FakeBrain) -> FakeBrain:
    brain.nodes = [busy("edge-10", 3.5), busy("edge-2", None, io=42.0), busy("edge-1", 1)]
    return brain


@pytest.fixture
def shown(page: Page, brain: FakeBrain) -> Page:
    page.goto(f"{ORIGIN}/#topology")
    expect(page.get_by_role("heading", name="Nodes")).to_be_visible()
    return page


def rows(page: Page) -> Locator:
    return page.locator("#nodes-table tbody tr")


def expect_names(page: Page, names: list[str]) -> None:
    expect(page.locator("#nodes-table tbody .label")).to_have_text(names)


def test_several_nodes_are_a_list_with_the_sums_of_each(shown: Page, brain: FakeBrain) -> None:
    expect_names(shown, ["edge-1", "edge-2", "edge-10"])
    cells = rows(shown).nth(1).locator("td")
    expect(cells).to_have_text(
        ["edge-2", "— of 4", "3.0 GiB of 8.0 GiB", "disk 42 %", "0", re.compile("1 s ago")]
    )
    expect(shown.locator("#nodes-shown")).to_have_text(
        "3 nodes · 4.5 of 12 cores · 9.0 GiB of 24.0 GiB"
    )
    expect(shown.locator("#main")).to_be_hidden()
    assert "/api/v1/topology" not in brain.asked


def test_a_node_is_one_click_away_and_the_list_one_back(shown: Page, brain: FakeBrain) -> None:
    shown.get_by_role("link", name="edge-2").click()
    expect(shown.locator("#machine-name")).to_have_text("edge-2")
    expect(shown.locator("#nodes")).to_be_hidden()
    assert shown.url.endswith("#topology/edge-2")
    shown.reload()
    expect(shown.locator("#machine-name")).to_have_text("edge-2")
    shown.get_by_role("link", name="← all 3 nodes").click()
    expect(rows(shown)).to_have_count(3)
    shown.go_back()
    expect(shown.locator("#machine-name")).to_have_text("edge-2")


def test_a_column_sorts_by_share_with_the_unknown_last(shown: Page) -> None:
    shown.get_by_role("button", name="CPU").click()
    expect_names(shown, ["edge-10", "edge-1", "edge-2"])
    expect(shown.locator("#nodes-table th[aria-sort=descending]")).to_have_text("CPU cores")
    shown.get_by_role("button", name="CPU").click()
    expect_names(shown, ["edge-1", "edge-10", "edge-2"])
    shown.get_by_role("button", name="Name").click()
    expect_names(shown, ["edge-1", "edge-2", "edge-10"])


def test_a_stale_node_is_said_and_found(page: Page, brain: FakeBrain) -> None:
    brain.nodes.append(small("edge-3", stale=True, age_s=600.0))
    page.goto(f"{ORIGIN}/#topology")
    expect(rows(page).nth(2)).to_contain_text("stale")
    expect(page.locator("#nodes-shown")).to_contain_text("1 stale")
    page.keyboard.press("/")
    page.keyboard.type("stale")
    expect_names(page, ["edge-3"])
    expect(page.locator("#nodes-shown")).to_contain_text("1 of 4 nodes")
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(4)


def test_a_node_that_does_not_report_is_said(page: Page, brain: FakeBrain) -> None:
    page.goto(f"{ORIGIN}/#topology/nope%")
    banner = page.locator("#banner")
    expect(banner).to_contain_text("No node called nope% reports to this controller.")
    page.get_by_role("link", name="Topology", exact=True).click()
    expect(rows(page)).to_have_count(3)
    expect(banner).to_be_hidden()


def test_a_crowd_of_nodes_stays_fluent_and_a_filter_finds_the_rest(
    page: Page, brain: FakeBrain
) -> None:
    brain.nodes = [small(f"node-{number}") for number in range(300)]
    page.goto(f"{ORIGIN}/#topology")
    expect(rows(page)).to_have_count(200)
    expect(page.locator("#nodes-shown")).to_contain_text("the first 200 are shown")
    page.locator("#nodes-filter").fill("NODE-299")
    expect_names(page, ["node-299"])


def test_markup_in_the_name_of_a_node_is_text(page: Page, brain: FakeBrain) -> None:
    brain.nodes.append(small(HOSTILE))
    page.goto(f"{ORIGIN}/#topology")
    page.get_by_role("link", name=HOSTILE).click()
    expect(page.locator("#machine-name")).to_have_text(HOSTILE)
    assert page.locator("main img").count() == 0


def test_a_telephone_shows_the_list_without_scrolling_sideways(
    page: Page, brain: FakeBrain
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{ORIGIN}/#topology")
    expect(rows(page)).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
