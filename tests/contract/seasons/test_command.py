"""Seasons of a real brain off clusters: `nemutator seasons`, a brain that is switched, and taken back.

The brain finds in its database what it has learned of eight days of two minutes: busy all day but for one slot, so that
the season of now is known whenever this runs. The commands are those of docs/seasons.md.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from nemutator_common.data_directory_files import prepare
from nemutator_common.errors import ExitCode
from nemutator_controller.seasons.day_book import CLUSTER, SavedDay, Scope
from nemutator_controller.seasons.sql import SqlSeasonDays

from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.databases import opened

WRITTEN = re.findall(
    r"^\.venv/bin/nemutator seasons ?(.*)$", Path("docs/seasons.md").read_text(), re.MULTILINE
)
DAY_S = 120.0
SLOTS = 8
WEB: Scope = ("shop", "unit", "web.service")
PATIENCE_S = 60.0


async def learned(root: Path, *, quiet: int = 3) -> None:
    """Of the machine and of one unit: *quiet* slots at the beginning of each day are quiet."""
    today = int(time.time() // DAY_S)
    use = np.full(SLOTS, 10.0, dtype=np.float16)
    use[:quiet] = 1.0
    days = [SavedDay(scope, today - ago, use) for scope in (CLUSTER, WEB) for ago in range(1, 9)]
    with opened(prepare(root).database) as database:
        await SqlSeasonDays(database).save(days, day_s=DAY_S)


async def asked(brain: StandingBrain, path: str) -> Any:
    async with brain.local.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def posted(brain: StandingBrain, path: str, document: object = None) -> Any:
    async with brain.local.post(path, json=document) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def until(brain: StandingBrain, holds: Callable[[Any], bool]) -> Any:
    """What the brain says once that *holds*."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds(found := await asked(brain, "/api/v1/seasons")):
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.2)
    return found


def always(name: str) -> dict[str, Any]:
    """A brain that is in force in every season that there is."""
    seasons = ["off-peak", "pre-peak", "peak", "surprise"]
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "SeasonPolicy",
        "metadata": {"name": name},
        "spec": {"when": {"season": seasons}, "advice": {"cpuPercentile": 99}},
    }


async def test_the_commands_of_the_document_work(tmp_path: Path, nemutator: CommandLine) -> None:
    assert len(WRITTEN) == 2
    root = tmp_path / "data"
    await learned(root)
    async with standing_brain(root, season_day_s=DAY_S) as brain:
        await posted(brain, "/api/v1/objects", always("busy-hours"))
        await until(brain, lambda found: any(one["in_force"] for one in found["switches"]))
        whole, narrow = [await nemutator("seasons", *one.split()) for one in WRITTEN]
        one = await nemutator("seasons", "web.service", "-o", "json")
    assert {each.code for each in (whole, narrow, one)} == {ExitCode.OK}, whole.err
    assert "A day here takes 120 s." in whole.out
    assert re.search(r"^SeasonPolicy/busy-hours +yes ", whole.out, re.MULTILINE)
    assert "all together" in whole.out
    assert "unit/web.service" in narrow.out
    assert "all together" not in narrow.out
    [item] = json.loads(one.out)["items"]
    assert item["seasonal"] is True
    assert len(item["day"]["expected"]) == SLOTS
    assert {span["season"] for span in item["spans"]} >= {"off-peak", "peak"}


async def test_a_switch_is_listed_and_taken_back_like_a_mutation(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    root = tmp_path / "data"
    await learned(root)
    async with standing_brain(root, season_day_s=DAY_S) as brain:
        await posted(brain, "/api/v1/objects", always("busy-hours"))
        found = await until(brain, lambda found: any(one["in_force"] for one in found["switches"]))
        [switch] = found["switches"]
        assert switch["why"].startswith("the season of the cluster is ")
        [listed] = (await asked(brain, "/api/v1/mutations"))["items"]
        assert (listed["id"], listed["subject"]["kind"]) == (switch["decision"], "SeasonPolicy")
        back = await nemutator("rollback", listed["id"], "--yes")
        assert back.code == ExitCode.OK, back.err
        found = await until(brain, lambda found: found["switches"][0]["held"])
        assert not found["switches"][0]["in_force"]
        # Its season goes on, and it stays as it is.
        stones = await nemutator("tombstones")
        assert "SeasonPolicy/busy-hours" in stones.out

        forgotten = await nemutator(
            "tombstones", "--forget", "--workload", "SeasonPolicy/busy-hours"
        )
        assert forgotten.code == ExitCode.OK, forgotten.err
        await until(brain, lambda found: found["switches"][0]["in_force"])


async def test_a_brain_that_knows_nothing_says_so(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        found = await until(brain, lambda found: found["cluster"] is not None)
        wrong = await brain.local.get("/api/v1/seasons?limit=0")
        faulty = await brain.local.post(
            "/api/v1/objects", json=always("x") | {"spec": {"when": {"season": []}}}
        )
    assert found["cluster"]["season"] == "unknown"
    assert found["cluster"]["reason"] == "no whole day of use is known yet"
    assert found["calendar"]["day_s"] == 86_400
    assert wrong.status == 400
    assert faulty.status == 400
