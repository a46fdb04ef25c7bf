"""`make run` for real: the sample's season is found and named, and its brains take turns on the page.

A day takes two minutes, and four whole ones are needed: the second start finds what the first would have learned in eight
of them, of the sample as this machine knows it. Whatever else the machine does has no part in it.
"""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.sql import SqlSeasonDays
from playwright.sync_api import Page, expect

from tests.e2e.standing import START_S, Person, standing
from tests.fakes.databases import opened
from tests.house.tree import REPOSITORY

SAMPLE = REPOSITORY / "scripts" / "sample"
DAY_S, SLOTS = 120.0, 8
SEASONAL = Person(environment={"NEMUTATOR_BRAIN_SEASON_DAY_S": str(DAY_S)})
SWITCHED_MS = 300_000
"""Two halves of a day, on a machine that may be busy."""
QUIET_CORES, BUSY_CORES = 0.025, 0.2


def learn(data_dir: Path, scope: Scope) -> None:
    """What the sample does by its source in days that are over: little, and in their second half more."""
    use = np.where(np.arange(SLOTS) < SLOTS // 2, QUIET_CORES, BUSY_CORES).astype(np.float16)
    today = int(time.time() // DAY_S)
    days = [SavedDay(scope, today - ago, use) for ago in range(1, 9)]
    with opened(data_dir / "nemutator.db") as database:
        asyncio.run(SqlSeasonDays(database).save(days, day_s=DAY_S))


@pytest.mark.timeout(900)  # two starts, and a day of two minutes that begins at any time
def test_the_samples_season_switches_its_brains_on_the_page(tmp_path: Path, page: Page) -> None:
    def policies() -> list[Path]:
        return list((tmp_path / "data" / "objects").rglob("sample-*.json"))

    def brains() -> list[dict[str, object]]:
        found = [json.loads(path.read_text()) for path in policies()]
        return [one for one in found if one["kind"] == "SeasonPolicy"]

    with standing(tmp_path, "--sample", str(SAMPLE), person=SEASONAL) as up:
        up.wait_until(lambda: "its seasons are known" in up.said(), "what to try", within_s=START_S)
        up.wait_until(lambda: len(brains()) == 2, "its brains", within_s=START_S)
    owners = [one["spec"]["when"]["of"] for one in brains()]  # type: ignore[index]
    assert owners[0] == owners[1]
    scope = owners[0]["namespace"], owners[0]["kind"], owners[0]["name"]
    # The browser's loop runs in this thread.
    with ThreadPoolExecutor(1) as beside:
        beside.submit(learn, tmp_path / "data", scope).result()

    with standing(tmp_path, "--sample", str(SAMPLE), person=SEASONAL) as up:
        page.goto(up.link)
        page.locator('#views a[href="#seasons"]').click()
        busy, quiet = (
            page.locator("#list-rows tr", has_text=f"SeasonPolicy sample-{name}").locator("td")
            for name in ("busy", "quiet")
        )

        def take_turns(one: str, other: str) -> None:
            expect(busy.nth(1)).to_have_text(one, timeout=SWITCHED_MS)
            expect(quiet.nth(1)).to_have_text(other, timeout=SWITCHED_MS)

        take_turns("in force", "not in force")
        expect(busy.nth(3)).to_contain_text(str(owners[0]["name"]))
        take_turns("not in force", "in force")
        take_turns("in force", "not in force")
        shown = up.run("seasons")
        print(shown.stdout)
        assert f"{owners[0]['kind']}/{owners[0]['name']}" in shown.stdout
        switched = [
            one
            for one in up.api("/api/v1/mutations?policy=sample-busy").document["items"]
            if one["subject"]["kind"] == "SeasonPolicy"
        ]
        assert len(switched) >= 2, "each switch stands in the journal"
