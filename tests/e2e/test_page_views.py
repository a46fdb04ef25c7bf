"""The page in front of a brain that answers whatever a test wants it to."""

import contextlib
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NothingCameError

from tests.e2e.browsing import PATIENCE_MS, hold_clock
from tests.e2e.canvases import places
from tests.fakes.console_brain import ORIGIN, FakeBrain, node, points, process, workload
from tests.testbed.running.waiting import until

REFRESH_MS = 3100
ANSWERED_WITHIN_MS = 5000

NAMES = ["whole machine", "system.slice", "api.service", "ssh.service", "3f2a90c1d2e4", "systemd"]
"""The rows that are shown first."""


@pytest.fixture
def shown(page: Page, brain: FakeBrain) -> Page:
    """The page with its clock in our hand: only `page.clock` makes it ask again."""
    hold_clock(page)
    page.goto(ORIGIN)
    expect(page.locator("#machine-name")).to_have_text("edge-1")
    return page


def poll_again(page: Page) -> None:
    page.clock.run_for(REFRESH_MS)


def poll_until(page: Page, condition: Callable[[], bool], what: str) -> None:
    """A poll that comes while an answer is on its way is none, so one may not be enough; and the page
    gives up an answer for which too much of its time has passed."""

    def polled() -> bool:
        answered = page.expect_event("requestfinished", timeout=ANSWERED_WITHIN_MS)
        with contextlib.suppress(NothingCameError), answered:
            poll_again(page)
        return condition()

    until(polled, what, within_s=PATIENCE_MS / 1000)


def row(page: Page, name: str) -> Locator:
    label = page.locator(".label").get_by_text(name, exact=True)
    return page.locator("#tree tbody tr").filter(has=label)


def expect_names(page: Page, names: list[str]) -> None:
    expect(page.locator("#tree tbody .label")).to_have_text(names)


def test_the_machine_is_seen_at_once(shown: Page) -> None:
    expect(shown.locator(".facts")).to_contain_text("Debian GNU/Linux 13 (trixie)")
    expect(shown.locator(".facts")).to_contain_text("kernel 6.12.30-amd64")
    expect(shown.locator(".card.cpu .reading")).to_have_text("0.84 of 4 cores · 21 %")
    expect(shown.locator(".card.memory .reading")).to_have_text("3.0 GiB of 8.0 GiB · 38 %")
    expect(shown.get_by_role("meter", name="disk pressure")).to_have_attribute(
        "aria-valuetext", "13 %"
    )
    expect(shown.locator("#cpu-caption")).to_have_text("highest 0.975 cores in the last 9 min")
    assert len(places(shown.locator("#cpu-plot"), "--cpu")) > 100
    assert shown.title() == "edge-1 · nemutator"


def test_slices_are_open_and_what_is_in_a_unit_is_one_key_away(shown: Page) -> None:
    expect_names(shown, NAMES)
    expect(row(shown, "api.service").locator(".badges")).to_have_text("Go 1.26.8")


def test_the_unknown_is_a_dash_that_says_why(shown: Page) -> None:
    cells = row(shown, "3f2a90c1d2e4").locator("td")
    for cell in (cells.nth(1), cells.nth(2), cells.nth(3)):
        expect(cell.locator(".value")).to_have_text("—")
        assert "not known" in (cell.get_attribute("title") or "")


def test_what_nobody_counts_is_the_sum_of_what_is_seen_and_says_so(
    page: Page, brain: FakeBrain
) -> None:
    groups = [workload("/", "root"), workload("/a", "group", cpu_cores=0.5, cpu_is_summed=True)]
    groups.append(workload("/b", "group", cpu_cores=0.25))
    brain.nodes = [node(workloads=groups, processes=[])]
    page.goto(ORIGIN)
    page.get_by_role("button", name="CPU").click()
    cpu = row(page, "a").locator("td.cpu")
    expect(cpu.locator(".value")).to_have_text("~0.500")
    expect(cpu).to_have_attribute("title", re.compile("the sum of its processes"))
    expect_names(page, ["whole machine", "a", "b"])


def test_what_cannot_be_seen_is_named_with_why_and_remedy(shown: Page) -> None:
    expect(shown.locator("#blind")).to_have_text("1 fact cannot be seen")
    expect(shown.locator("#missing-list li")).to_have_text(
        "runtime of other users' processes"
        "this agent does not run as root"
        "start it with `sudo nemutator up`"
    )


def test_the_tree_is_walked_by_keyboard(shown: Page) -> None:
    shown.keyboard.press("/")
    expect(shown.locator("#filter")).to_be_focused()
    shown.keyboard.press("ArrowDown")
    expect(row(shown, "whole machine")).to_be_focused()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("ArrowDown")
    expect(row(shown, "api.service")).to_be_focused()
    shown.keyboard.press("ArrowRight")
    expect(row(shown, "api.service")).to_have_attribute("aria-expanded", "true")
    shown.keyboard.press("ArrowRight")
    expect(row(shown, "api")).to_be_focused()
    shown.keyboard.press("ArrowLeft")
    expect(row(shown, "api.service")).to_be_focused()
    shown.keyboard.press("Enter")
    expect(row(shown, "api")).to_have_count(0)
    shown.keyboard.press("End")
    expect(row(shown, "systemd")).to_be_focused()
    shown.keyboard.press("Home")
    shown.keyboard.press("ArrowLeft")
    expect_names(shown, ["whole machine"])


def test_a_filter_narrows_and_escape_brings_everything_back(shown: Page) -> None:
    shown.keyboard.press("/")
    shown.keyboard.type("runtime:python kind:process")
    expect_names(shown, ["whole machine", "system.slice", "3f2a90c1d2e4", "gunicorn"])
    expect(shown.locator("#shown")).to_have_text("1 of 5 groups, 4 processes")
    shown.keyboard.type(" no-such-thing")
    expect(shown.locator("#empty")).to_be_visible()
    shown.keyboard.press("Escape")
    expect(row(shown, "ssh.service")).to_be_visible()
    expect(shown.locator("#empty")).to_be_hidden()


def test_a_column_sorts_either_way_and_says_so(shown: Page) -> None:
    shown.get_by_role("button", name="Name").click()
    expect(shown.locator("th[aria-sort=ascending]")).to_have_text("Name")
    machine, unit, api, ssh, other, process_1 = NAMES
    expect_names(shown, [machine, unit, other, api, ssh, process_1])
    shown.get_by_role("button", name="Name").click()
    expect_names(shown, [machine, unit, ssh, api, other, process_1])


def test_a_poll_changes_values_in_place_and_disturbs_nothing(shown: Page, brain: FakeBrain) -> None:
    row(shown, "api.service").locator("td").first.click()
    row(shown, "ssh.service").focus()
    shown.evaluate("document.querySelectorAll('#tree tr').forEach((tr) => { tr.marked = true })")
    shown.evaluate("window.scrollTo(0, 120)")
    scrolled = shown.evaluate("window.scrollY")
    machine, units = brain.node["machine"], brain.node["workloads"]
    machine["cpu_cores"] = 2.5
    units[3]["memory_bytes"] = 2 << 30  # ssh.service moves above api.service, with the focus
    brain.node["processes"].append(process(900, "newcomer", "/system.slice/api.service"))
    poll_again(shown)
    expect(shown.locator("#cpu")).to_have_text("2.50")
    top, unit, api_service, ssh, *others = NAMES
    expect_names(shown, [top, unit, ssh, api_service, "api", "newcomer", *others])
    expect(row(shown, "ssh.service")).to_be_focused()
    marked = "[...document.querySelectorAll('#tree tbody tr')].map((tr) => Boolean(tr.marked))"
    assert shown.evaluate(marked).count(False) == 1
    assert shown.evaluate("window.scrollY") == scrolled


def test_only_new_history_is_fetched(shown: Page, brain: FakeBrain) -> None:
    brain.points = points(3, until=1_760_003_609.0)
    poll_again(shown)
    expect(shown.locator("#cpu-plot .chart")).to_have_attribute(
        "aria-label", "CPU: highest 0.975 cores in the last 10 min"
    )
    assert brain.asked.count("/api/v1/topology") == 2


def test_a_hidden_page_asks_nothing_and_then_at_once_when_it_is_back(
    shown: Page, brain: FakeBrain
) -> None:
    def hide(hidden: bool) -> None:
        shown.evaluate(
            """(hidden) => {
                Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
                document.dispatchEvent(new Event("visibilitychange"));
            }""",
            hidden,
        )

    hide(True)
    before = len(brain.asked)
    shown.clock.run_for(60_000)
    assert len(brain.asked) == before
    brain.node["machine"]["cpu_cores"] = 1.5
    hide(False)
    expect(shown.locator("#cpu")).to_have_text("1.50")


def test_a_lost_brain_is_said_and_recovers_by_itself(shown: Page, brain: FakeBrain) -> None:
    brain.status = None
    poll_again(shown)
    banner = shown.locator("#banner")
    expect(banner).to_contain_text("The controller does not answer: no connection.")
    expect(row(shown, "api.service")).to_be_visible()
    expect(shown.locator("#freshness")).to_contain_text("last seen")
    brain.status = 500
    poll_again(shown)
    expect(banner).to_contain_text("it answers 500")
    brain.status = 200
    poll_again(shown)
    expect(banner).to_be_hidden()
    expect(shown.locator("#freshness")).not_to_contain_text("last seen")


def test_an_ended_session_and_a_refusal_say_what_a_person_must_do(
    shown: Page, brain: FakeBrain
) -> None:
    banner = shown.locator("#banner")
    brain.status = 401
    brain.refusal = {"error": "nobody is signed in", "remedy": "reload the page to sign in"}
    poll_again(shown)
    expect(banner).to_have_text("This session has ended: reload the page to sign in.")
    brain.status = 403
    brain.refusal = {"error": f"anna may not{HOSTILE}", "remedy": "ask for it"}
    poll_again(shown)
    expect(banner).to_have_text(f"anna may not{HOSTILE} → ask for it")
    expect(row(shown, "api.service")).to_be_visible()


def test_what_is_wrong_with_the_brain_is_said_on_every_tab(shown: Page, brain: FakeBrain) -> None:
    brain.warning = "database: no space left"
    problem = "The controller has a problem: database: no space left."
    banner = shown.locator("#banner")
    for view in ("Topology", "Profiles", "Audit"):
        shown.get_by_role("link", name=view, exact=True).click()
        poll_until(shown, lambda: banner.text_content() == problem, f"a banner over {view}")
    brain.warning = ""
    poll_until(shown, banner.is_hidden, "no banner any more")


def test_a_silent_agent_is_said(shown: Page, brain: FakeBrain) -> None:
    brain.nodes = [node(stale=True, age_s=95.0)]
    poll_again(shown)
    expect(shown.locator("#banner")).to_contain_text("No news from edge-1")
    expect(shown.locator("#freshness")).to_have_text("last seen 95 s ago")


def test_before_the_first_report_the_page_says_what_it_waits_for(
    page: Page, brain: FakeBrain
) -> None:
    brain.nodes = []
    page.goto(ORIGIN)
    expect(page.locator("#banner")).to_contain_text("No agent has reported yet")
    expect(page.locator("#main")).to_be_hidden()


def test_the_first_snapshot_has_no_rates_and_says_so(page: Page, brain: FakeBrain) -> None:
    brain.node["machine"]["cpu_cores"] = None
    brain.points = []
    page.goto(ORIGIN)
    expect(page.locator("#cpu")).to_have_text("—")
    expect(page.locator("#cpu")).to_have_attribute(
        "title", "not known: a rate needs two snapshots, so the first report has none"
    )
    expect(page.locator("#cpu-caption")).to_have_text("history begins now")
    expect(page.get_by_role("slider")).to_have_count(0)


def test_the_last_hour_is_read_by_keyboard(shown: Page) -> None:
    shown.get_by_role("slider", name="moment of CPU").focus()
    shown.keyboard.press("ArrowLeft")
    for caption in ("#cpu-caption", "#memory-caption"):
        expect(shown.locator(caption)).to_contain_text(", 3 s ago")
    shown.keyboard.press("+")
    shown.get_by_role("button", name="Whole hour").click()
    expect(shown.get_by_role("button", name="Whole hour")).to_have_count(0)


HOSTILE = "<img src=x onerror=alert(1)>"


def test_markup_of_strangers_is_text_wherever_it_comes_from(page: Page, brain: FakeBrain) -> None:
    brain.nodes = [
        node(
            name=HOSTILE,
            workloads=[workload("/", "root"), workload(f"/{HOSTILE}", "slice", name=HOSTILE)],
            processes=[
                process(1, HOSTILE, f"/{HOSTILE}", runtime="go", runtime_version=f"go1{HOSTILE}")
            ],
            missing=[{"what": HOSTILE, "why": HOSTILE, "remedy": HOSTILE}],
        )
    ]
    brain.node["machine"] |= {"system": HOSTILE, "kernel": HOSTILE}
    page.goto(ORIGIN)
    expect(page.locator("#machine-name")).to_have_text(HOSTILE)
    expect_names(page, ["whole machine", HOSTILE, HOSTILE])
    assert page.locator("main img, main script").count() == 0


def test_a_crowd_stays_fluent_and_more_is_one_key_away(page: Page, brain: FakeBrain) -> None:
    crowd = [process(pid, f"worker-{pid}", "/") for pid in range(2000)]
    brain.nodes = [node(workloads=[workload("/", "root")], processes=crowd)]
    page.goto(ORIGIN)
    expect(page.locator("#tree tbody tr")).to_have_count(42)
    more = page.get_by_text("Show 40 more, 1960 are hidden")
    page.locator("#tree tbody tr").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tree tbody tr")).to_have_count(82)
    expect(more).to_have_count(0)
    expect(row(page, "worker-40")).to_be_focused()
    page.locator("#filter").fill("worker-1999")
    expect(row(page, "worker-1999")).to_be_visible()


def test_a_telephone_shows_it_without_scrolling_sideways(page: Page, brain: FakeBrain) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(ORIGIN)
    expect(row(page, "api.service")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = row(page, "api.service").locator(".label").bounding_box()
    assert box is not None
    assert box["width"] > 60
