"""A real Chromium for the tests of the console's page."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.e2e.browsing import Watch

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))

ARGUMENTS = (
    # Root in a container has no user namespace to build the sandbox of.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """For a module, not for the session: while it is open, no other event loop can run."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails its test when it complains, opens a dialog or calls strangers."""
    page = context.new_page()
    watch = Watch(page)
    yield page
    assert watch.complaints == []
    assert len(watch.origins) <= 1, f"calls beyond its own origin: {watch.origins}"
