"""Our export in speedscope itself, as its package on npm has it, in a real Chromium."""

import re
from pathlib import Path

import pytest
from nemutator_common.profiles import speedscope
from nemutator_common.profiles.model import functions
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import chromium, context
from tests.e2e.test_flamegraph import EVIL, PROFILE
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing

__all__ = ["chromium", "context"]

pytestmark = pytest.mark.timeout(600)
ROW = re.compile(r"[0-9.]+(?:ns|ms|s) \(<?([0-9.]+)%\)")
"""What it says of nothing is that it is less than 0.01 %."""


@pytest.fixture
def viewer(context: Browser) -> Page:
    with skipped_when_missing():
        pages = made.speedscope()
    page = context.new_page()
    page.goto((pages / "index.html").as_uri())
    return page


def test_it_shows_each_function_with_its_time_and_names_stay_text(
    viewer: Page, tmp_path: Path
) -> None:
    file = tmp_path / "cart.speedscope.json"
    file.write_text(speedscope.render(PROFILE, title=f"cart {EVIL}"))
    viewer.set_input_files("input[type=file]", file)
    viewer.get_by_text("Sandwich").click()
    rows = viewer.locator("table tr", has_text=ROW)
    expect(rows).to_have_count(len(PROFILE.frames))
    shown = {}
    for row in rows.all():
        total, own, name = row.locator("td").all_inner_texts()
        shown[name.strip()] = (share(own), share(total))
    whole = PROFILE.recorded
    assert shown == {
        one.function: (one.flat / whole, one.cumulative / whole) for one in functions(PROFILE)
    }
    expect(viewer).to_have_title(re.compile("^cart </script>"))
    assert viewer.locator("img").count() == 0


def share(cell: str) -> float:
    found = ROW.search(cell)
    assert found is not None, cell
    return round(float(found[1]) / 100, 3)
