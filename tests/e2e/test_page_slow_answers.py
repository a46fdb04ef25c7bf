"""The page in front of a busy brain, which answers everything, and late."""

from playwright.sync_api import Page, expect

from tests.e2e.browsing import hold_clock
from tests.fakes.console_brain import ORIGIN, FakeBrain

POLL_MS = 3_100
LATE_MS = 6_000
OVERVIEW = f"{ORIGIN}/#overview"

WITHOUT_DEADLINES = "AbortSignal.timeout = () => new AbortController().signal"


def test_an_answer_that_comes_late_is_shown_and_meanwhile_it_is_said_that_it_has_not_come(
    page: Page, brain: FakeBrain
) -> None:
    hold_clock(page)
    brain.busy = True
    with page.expect_request("**/api/v1/nodes**"):
        page.goto(ORIGIN)
    banner = page.locator("#banner")
    page.clock.run_for(LATE_MS)
    expect(banner).to_have_text("The controller does not answer yet. Waiting …")
    brain.catch_up()
    expect(page.locator("#machine-name")).to_have_text("edge-1")
    expect(banner).to_be_hidden()


def test_the_last_answer_stays_until_the_late_one_has_come(page: Page, brain: FakeBrain) -> None:
    hold_clock(page)
    page.goto(ORIGIN)
    expect(page.locator("#machine-name")).to_have_text("edge-1")
    brain.busy = True
    with page.expect_request("**/api/v1/nodes**"):
        page.clock.run_for(POLL_MS)
    page.clock.run_for(LATE_MS)
    banner, freshness = page.locator("#banner"), page.locator("#freshness")
    expect(banner).to_contain_text("does not answer yet. What you see is the last answer.")
    expect(freshness).to_contain_text("last seen")
    expect(page.locator("#machine-name")).to_have_text("edge-1")
    brain.node["machine"]["cpu_cores"] = 1.5
    brain.catch_up()
    expect(page.locator("#cpu")).to_have_text("1.50")
    expect(banner).to_be_hidden()
    expect(freshness).not_to_contain_text("last seen")


def test_who_goes_elsewhere_does_not_wait_for_what_was_asked_before(
    page: Page, brain: FakeBrain
) -> None:
    page.add_init_script(WITHOUT_DEADLINES)
    brain.busy = True
    with page.expect_request("**/api/v1/workloads**"):
        page.goto(OVERVIEW)
    brain.busy = False
    page.get_by_role("link", name="Leases", exact=True).click()
    expect(page.locator("#list-title")).to_have_text("Leases")
    expect(page.locator("#freshness")).to_have_text("live")
    expect(page.locator("#banner")).to_be_hidden()
