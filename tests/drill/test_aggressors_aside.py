"""Whoever is in others' way is evicted in the seasons of a SeasonPolicy, and not before, on a real control plane and kubelet;
and bears its grade when the brain that leads is killed, as long as it is one.

What pods used and waited for is what the agent of the node reports: a planted node, of which it is known who makes whom
suffer. A day takes four minutes, of which the second half is busy, by days that the brain has learned before; a minute of
neighbours takes four seconds.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.seasons.day_book import CLUSTER, SavedDay
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.drill.two_brains import two_brains
from tests.e2e.testbed.in_cluster.installation import (
    Installation,
    installed,
    nemutator,
    refusals,
)
from tests.e2e.testbed.planted_pods import INNOCENT, Planted, PlantedAgent, container
from tests.e2e.testbed.workloads import replicated, wait_ready
from tests.fakes.databases import opened
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

MINUTE_S = 4
DAY_S, SLOTS, LEARNED = 240.0, 16, 8
PATIENCE_S = 600
BUSY = {"season": ["pre-peak", "peak"]}


def learned() -> list[SavedDay]:
    today = int(time.time() // DAY_S)
    use = np.where(np.arange(SLOTS) < SLOTS // 2, 1.0, 10.0).astype(np.float16)
    return [SavedDay(CLUSTER, today - ago, use) for ago in range(1, LEARNED + 1)]


@pytest.fixture
def brain(cluster: Cluster, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "data").mkdir(mode=0o700)
    with opened(tmp_path / "data" / "nemutator.db") as database:
        asyncio.run(SqlSeasonDays(database).save(learned(), day_s=DAY_S))
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    on = {
        "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S),
        "NEMUTATOR_BRAIN_SEASON_DAY_S": str(DAY_S),
    }
    with (
        new_namespace(cluster, "aside") as name,
        installed(cluster, name, tmp_path, **on) as made,
    ):
        yield made
    cluster.kubectl("delete", "seasonpolicy", "--all")


def planted_pods(cluster: Cluster, namespace: str) -> Planted:
    """On a real kubelet."""
    cluster.apply(replicated("web", namespace, INNOCENT), replicated("batch", namespace, 1))
    for name in ("web", "batch"):
        wait_ready(cluster, namespace, f"deployment/{name}")
    return Planted(cluster, namespace)


def test_an_aggressor_is_evicted_in_its_season_and_not_before(
    brain: Installation,
    cluster: Cluster,
    node: Node,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    planted = planted_pods(cluster, namespace)
    aside = {"grade": 1, "mode": "Apply"}
    policy = {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "SeasonPolicy",
        "metadata": {"name": "busy-hours"},
        "spec": {"when": BUSY, "aggressors": aside},
    }
    cluster.apply(policy)

    def in_force() -> bool:
        found: dict[str, Any] = cluster.get("seasonpolicy", "busy-hours")
        conditions = found.get("status", {}).get("conditions", [])
        return any(one["type"] == "InForce" and one["status"] == "True" for one in conditions)

    until(in_force, "it is busy", within_s=PATIENCE_S)
    until(lambda: not in_force(), "off-peak begins", within_s=PATIENCE_S)
    agent = PlantedAgent(brain, planted, minute_s=MINUTE_S)
    seen: list[tuple[float, bool, bool, bool]] = []
    """Of each look when, whether the policy was in force before and after it, whether the aggressor bears its grade, and
    whether it is gone."""

    def look() -> tuple[bool, bool, bool]:
        agent.tell(brain)
        before, labels = in_force(), planted.labels()
        bears = names.AGGRESSOR_NOW in (labels or {})
        force, is_gone = before or in_force(), labels is None
        seen.append((agent.seconds, force, bears, is_gone))
        return force, bears, is_gone

    until(lambda: look()[1], "it bears its grade", within_s=PATIENCE_S)
    found_at = seen[-1]
    until(lambda: look()[2], "it is evicted", within_s=PATIENCE_S)
    gone_at = seen[-1]
    print(f"found {found_at[0]} s after the first report, in force: {found_at[1]}")
    print(f"in force {next((one[0] for one in seen if one[1]), None)} s, gone {gone_at[0]} s")
    off_peak = [one for one in seen if not one[1]]
    assert found_at in off_peak, "it took the whole of an off-peak to find it: nothing is shown"
    assert not any(one[3] for one in off_peak)
    innocent = {one for row, one in enumerate(planted.rows) if row != planted.hog}
    assert {container(one) for one in planted.pods("web")} == innocent
    token = brain.token("viewer", audience="")
    shown = nemutator(brain, token, tmp_path, "neighbours")
    print(shown.stdout)
    log = (brain.directory / "brain.log").read_text()
    assert "aggressor_evicted" in log
    assert refusals(brain) == []


def test_grades_stand_when_the_brain_that_leads_is_killed(
    cluster: Cluster,
    node: Node,
    image: ImageStore,
    postgres: Postgres,
    namespace: str,
    tmp_path: Path,
) -> None:
    planted = planted_pods(cluster, namespace)
    with new_namespace(cluster, "aside") as name, new_database(postgres, tmp_path) as server:
        settings = {"NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S)}
        with two_brains(cluster, name, tmp_path, server, **settings) as (one, other):
            goes_on(one, other, planted)


def goes_on(one: Installation, other: Installation, planted: Planted) -> None:
    agent = PlantedAgent(one, planted, minute_s=MINUTE_S)
    bears: list[tuple[float, str]] = []

    def look(brain: Installation) -> bool:
        agent.tell(brain)
        bears.append((agent.seconds, (planted.labels() or {}).get(names.AGGRESSOR_NOW, "")))
        return bool(bears[-1][1])

    until(lambda: look(one), "it bears its grade", within_s=PATIENCE_S)
    assert one.counted("nemutator_brain_leads") == 1.0
    assert one.process is not None
    one.process.kill()
    killed_at = agent.seconds
    bears.clear()

    def leads() -> bool:
        look(other)
        return other.counted("nemutator_brain_leads") == 1.0

    until(leads, "the other one leads", within_s=PATIENCE_S)
    leads_at, looks_end = agent.seconds, agent.seconds + 10 * MINUTE_S
    until(lambda: look(other) and agent.seconds > looks_end, "ten looks more", within_s=PATIENCE_S)
    assert all(grade for _, grade in bears), (killed_at, leads_at, bears)
    agent.becomes_quiet()
    until(lambda: not look(other), "what is no aggressor bears no grade", within_s=PATIENCE_S)
    print(f"killed {killed_at} s, the other leads {leads_at} s, without a grade {agent.seconds} s")
