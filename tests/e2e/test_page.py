"""The console for real: `nemutator up`, its agent, its brain, and a browser that opens its link.

With NEMUTATOR_SCREENSHOT=docs/images/console.png the picture in the documentation is taken anew;
`pngquant --quality 80-100` then makes it three times smaller.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.standing import Standing, standing


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("up")) as up:
        yield up


@pytest.fixture
def console(page: Page, up: Standing) -> Page:
    """The page, opened by a link of its own, with the machine on it."""
    page.goto(up.another_link())
    expect(page.locator("#machine-name")).not_to_be_empty()
    return page


@contextmanager
def running(directory: Path, name: str) -> Iterator[int]:
    """A real process that goes by *name*."""
    program = directory / name
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "600"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def find(page: Page, text: str) -> Locator:
    page.locator("#filter").fill(text)
    return page.locator("#tree tbody tr[data-kind=process] .label")


def test_the_printed_link_opens_the_page_once(
    up: Standing, page: Page, context: BrowserContext, chromium: Browser
) -> None:
    page.goto(up.link)
    expect(page.locator("#machine-name")).not_to_be_empty()
    assert page.url.endswith("/"), "the key must not stay in the address"
    page.reload()
    expect(page.locator("#machine-name")).not_to_be_empty()

    stranger = chromium.new_context()
    second = stranger.request.get(up.link)
    assert second.status == 403
    assert "nemutator link" in second.text()
    assert stranger.request.get(page.url).status == 401
    refusal = stranger.new_page()
    refusal.goto(up.link)
    for scheme in SCHEMES:
        refusal.emulate_media(color_scheme=scheme)
        assert complaints(refusal) == []
    stranger.close()


def test_the_cookie_is_out_of_reach_of_scripts(console: Page, context: BrowserContext) -> None:
    assert console.evaluate("document.cookie") == ""
    (cookie,) = context.cookies()
    assert cookie.get("httpOnly")
    assert cookie.get("sameSite") == "Strict"


def test_what_runs_here_is_shown_and_a_newcomer_appears(console: Page, tmp_path: Path) -> None:
    expect(console.locator("#tree tbody tr").first).to_be_visible()
    expect(console.locator(".card.memory .reading")).to_contain_text("GiB")
    with running(tmp_path, "newcomer") as pid:
        found = find(console, f"newcomer pid:{pid}")
        expect(found).to_have_text("newcomer")
    expect(found).to_have_count(0)


def test_our_own_processes_carry_their_runtime(console: Page) -> None:
    console.locator("#filter").fill("kind:process runtime:python")
    expect(console.locator("#tree .badges").last).to_contain_text("Python 3")


def test_the_history_grows(console: Page) -> None:
    expect(console.locator("#cpu-caption")).to_contain_text("in the last")


def test_the_keyboard_alone_filters_and_folds(console: Page) -> None:
    rows = console.locator("#tree tbody tr")
    console.keyboard.press("/")
    console.keyboard.type("kind:process")
    console.keyboard.press("ArrowDown")
    expect(rows.first).to_be_focused()
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    console.keyboard.press("ArrowLeft")
    expect(rows.first).to_have_attribute("aria-expanded", "false")
    console.keyboard.press("Escape")
    expect(console.locator("#filter")).to_have_value("")


def test_a_process_named_like_markup_is_text(console: Page, tmp_path: Path) -> None:
    # The kernel keeps 15 bytes of a name; full-length markup is tried in front of the fake brain.
    name = "<img src=y.png>"
    asked: list[str] = []
    console.on("request", lambda request: asked.append(request.url))
    with running(tmp_path, name) as pid:
        expect(find(console, f"pid:{pid}")).to_have_text(name)
    assert console.locator("main img").count() == 0
    assert not [url for url in asked if "y.png" in url]


def test_a_killed_brain_is_said_and_the_page_recovers_by_itself(
    console: Page, up: Standing
) -> None:
    # Held still first: a brain that comes back at once would leave nothing to see.
    brain = up.children()["brain"]
    os.kill(brain, signal.SIGSTOP)
    banner = console.locator("#banner")
    expect(banner).to_contain_text("The controller does not answer")
    with contextlib.suppress(ProcessLookupError):  # where `up` was quicker
        os.kill(brain, signal.SIGKILL)
    expect(banner).to_be_hidden()
    assert up.children()["brain"] != brain


def test_the_picture(console: Page, tmp_path: Path) -> None:
    expect(console.locator("#cpu-caption")).to_contain_text("in the last")
    picture = Path(os.environ.get("NEMUTATOR_SCREENSHOT", tmp_path / "console.png"))
    assert console.screenshot(path=picture).startswith(b"\x89PNG")
