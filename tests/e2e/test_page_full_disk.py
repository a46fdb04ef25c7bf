"""A disk that fills up while somebody looks at the page."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.standing import fill, small_disk, standing


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_the_page_says_that_nothing_is_stored_until_there_is_room_again(
    page: Page, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk, standing(disk) as up:
        page.goto(up.link)
        expect(page.locator("#machine-name")).not_to_be_empty()
        ballast = fill(disk)
        banner = page.locator("#banner")
        expect(banner).to_contain_text("database: no space left")
        page.get_by_role("link", name="Profiles").click()
        expect(banner).to_contain_text("database: no space left")
        ballast.unlink()
        expect(banner).to_be_hidden()
