"""The page as the console of a cluster serves it: signed in to with a token, shown as RBAC allows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessibility import SCHEMES, complaints
from tests.e2e.browsing import PATIENCE_MS, Watch
from tests.e2e.own_loop import standing_beside
from tests.fakes.consoles import StandingConsole, standing_console


@pytest.fixture
def console(tmp_path: Path) -> Iterator[StandingConsole]:
    with standing_beside(standing_console(tmp_path)) as console:
        yield console


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    watch = Watch(page)
    yield page
    # The browser itself reports that the first two doors were shut.
    assert [said for said in watch.complaints if "status of 40" not in said] == []
    assert len(watch.origins) == 1
    context.close()


def test_a_person_signs_in_and_sees_and_changes_what_rbac_grants(
    page: Page, console: StandingConsole
) -> None:
    console.reviews.knows("a.b.c", "anna")
    console.reviews.allowed |= {
        ("anna", "get", "mutations", ""),
        ("anna", "update", "mutations", ""),
    }
    page.goto(console.url)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert complaints(page) == []
    for token, said in (("guess", "The cluster does not know this token"), ("a.b.c", "anna may")):
        page.get_by_label("A token of yours").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("body")).to_contain_text(said)
    assert page.evaluate("document.cookie") == ""
    expect(page.locator("#banner")).to_contain_text("anna may not get topology.nemutator.io")
    page.get_by_role("link", name="Mutations").click()
    page.get_by_role("button", name="Take back …").click()
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.locator("#list-outcome")).to_contain_text("web-1: ")
    expect(page.locator("#banner")).to_be_hidden()
    (pod,) = console.objects.living.values()
    assert "labels" not in pod.document["metadata"]
