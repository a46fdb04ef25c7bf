"""Of two brains on one PostgreSQL the one that leads switches by seasons, the other one shows the same, and goes on where that one
is killed: no switch is lost, and none is made twice.

A day takes two minutes, busy in its second half by days that were saved before. Nobody reports meanwhile.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nemutator_controller.seasons.day_book import CLUSTER, SavedDay
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.drill.two_brains import two_brains
from tests.e2e.testbed.in_cluster.installation import Installation
from tests.fakes.databases import opened_on
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

DAY_S, SLOTS, LEARNED = 120.0, 8, 8
PATIENCE_S = 600
NAME = "busy-hours"
SWITCHES = 4
"""On and off by each of them."""


def learned() -> list[SavedDay]:
    today = int(time.time() // DAY_S)
    use = np.where(np.arange(SLOTS) < SLOTS // 2, 1.0, 10.0).astype(np.float16)
    return [SavedDay(CLUSTER, today - ago, use) for ago in range(1, LEARNED + 1)]


def switch(brain: Installation, token: str) -> tuple[bool, str] | None:
    """Whether the policy is in force, and by which decision, as this brain tells people."""
    answer = brain.ask(brain.console, "/api/v1/seasons", token=token)
    assert answer.status == 200, answer.body
    found: list[dict[str, Any]] = answer.json["switches"]
    return next(((one["in_force"], one["decision"]) for one in found if one["name"] == NAME), None)


def test_a_season_is_switched_once_whoever_leads(
    cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    with new_namespace(cluster, "seasons") as name, new_database(postgres, tmp_path) as server:
        with opened_on(server) as database:
            asyncio.run(SqlSeasonDays(database).save(learned(), day_s=DAY_S))
        settings = {"NEMUTATOR_BRAIN_SEASON_DAY_S": str(DAY_S)}
        with two_brains(cluster, name, tmp_path, server, **settings) as (one, other):
            try:
                goes_on(one, other, cluster)
            finally:
                cluster.kubectl("delete", "seasonpolicy", "--all")
            journal = "SELECT count(*) FROM decisions WHERE kind = 'SeasonPolicy'"
            assert int(postgres.sql(journal, database=server.database)) == SWITCHES


def goes_on(one: Installation, other: Installation, cluster: Cluster) -> None:
    token = one.token("viewer", audience="")
    spec = {"when": {"season": ["pre-peak", "peak"]}, "resizes": "Hold"}
    api = {"apiVersion": "nemutator.io/v1alpha1", "kind": "SeasonPolicy"}
    cluster.apply({**api, "metadata": {"name": NAME}, "spec": spec})
    seen: list[tuple[float, bool, str]] = []

    def becomes(brain: Installation, wanted: bool) -> str:
        def is_so() -> bool:
            found = switch(brain, token)
            return found is not None and found[0] is wanted

        until(is_so, f"in force: {wanted}", within_s=PATIENCE_S)
        found = switch(brain, token)
        assert found is not None
        seen.append((round(time.time() % DAY_S, 1), *found))
        return found[1]

    assert one.counted("nemutator_brain_leads") == 1.0
    becomes(one, wanted=True)
    by_one = becomes(one, wanted=False)
    # Who does not lead tells the same, by the same decision.
    assert becomes(other, wanted=False) == by_one
    assert one.process is not None
    one.process.kill()
    killed_at = time.monotonic()
    until(
        lambda: other.counted("nemutator_brain_leads") == 1.0,
        "the other one leads",
        within_s=PATIENCE_S,
    )
    led_after_s = time.monotonic() - killed_at
    by_other = becomes(other, wanted=True)
    assert by_other != by_one
    assert becomes(other, wanted=False) not in (by_one, by_other)
    print(f"the other one led {led_after_s:.1f} s after the kill; seconds of the day: {seen}")
