"""What a page does besides what a test asks of it."""

from datetime import datetime, timedelta
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Dialog, Error, Locator, Page, Request, expect

from tests.fakes.console_brain import ORIGIN

PATIENCE_MS = 60_000
"""For what comes to hold on a page: Playwright's own 5 s are short on a busy machine."""

DRAWN = "new Promise((done) => requestAnimationFrame(() => done(true)))"
"""Plots are drawn before the next frame."""


def shown(page: Page, view: str) -> Locator:
    """The rows of the list *view*, once the page shows it."""
    page.goto(f"{ORIGIN}/#{view}")
    expect(page.locator(f'#views a[href="#{view}"]')).to_have_attribute("aria-current", "page")
    return page.locator("#list-rows tr")


def layers(plot: Locator) -> Locator:
    """What is drawn of values in *plot*."""
    return plot.locator(".legend button")


def hold_clock(page: Page) -> None:
    """Before it goes anywhere: its time passes by `page.clock.run_for` alone."""
    now = datetime.now()
    page.clock.install(time=now)  # which alone would go on by itself
    page.clock.pause_at(now + timedelta(seconds=1))


class Watch:
    """Collects the complaints of *page*, its dialogs, and the origins that it calls."""

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        self.origins: set[str] = set()
        page.on("console", self._console)
        page.on("pageerror", self._defect)
        page.on("dialog", self._dialog)
        page.context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        # The browser itself reports each request that failed. A lost brain is the page's business,
        # which says so in its banner; a lost file of the page is a defect.
        path = urlsplit(message.location["url"]).path
        expected = message.text.startswith("Failed to load resource") and path.startswith("/api/")
        if message.type in {"error", "warning"} and not expected:
            self.complaints.append(f"{message.type}: {message.text}")

    def _defect(self, error: Error) -> None:
        self.complaints.append(f"uncaught: {error}")

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data":
            self.origins.add(f"{parts.scheme}://{parts.netloc}")
