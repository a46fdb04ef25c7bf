"""How long the pods of a Deployment take to be ready is measured on a real control plane and kubelet, and is how long before its
peak it is pre-peak.

A day takes four minutes, in slots of 15 seconds, of which the second half is busy, by days that the brain has learned before.
Pods become ready by a probe that waits for longer than one slot.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import Installation, installed, nemutator
from tests.e2e.testbed.workloads import container, replicated
from tests.fakes.databases import opened
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

DAY_S, SLOTS, LEARNED = 240.0, 16, 8
SLOT_S = DAY_S / SLOTS
UNREADY_S = 20
PODS = 3
"""Of which a lead can be told."""
PATIENCE_S = 600

Json = dict[str, Any]


def learned(scope: Scope) -> list[SavedDay]:
    today = int(time.time() // DAY_S)
    use = np.where(np.arange(SLOTS) < SLOTS // 2, 1.0, 10.0).astype(np.float16)
    return [SavedDay(scope, today - ago, use) for ago in range(1, LEARNED + 1)]


@pytest.fixture
def brain(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "data").mkdir(mode=0o700)
    with opened(tmp_path / "data" / "nemutator.db") as database:
        days = learned((namespace, "Deployment", "web"))
        asyncio.run(SqlSeasonDays(database).save(days, day_s=DAY_S))
    for plural in ("mutationpolicies", "seasonpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    with (
        new_namespace(cluster, "lead") as name,
        installed(cluster, name, tmp_path, NEMUTATOR_BRAIN_SEASON_DAY_S=str(DAY_S)) as made,
    ):
        yield made


def test_a_peak_is_announced_as_long_before_as_its_pods_take_to_be_ready(
    brain: Installation,
    cluster: Cluster,
    node: Node,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    viewer = brain.token("viewer", audience="")

    def web() -> Json:
        path = f"/api/v1/seasons?namespace={namespace}&name=web"
        items = brain.ask(brain.console, path, token=viewer).json["items"]
        found: Json = items[0] if items else {}
        return found

    def announced_s() -> float | None:
        """How long before its peak it is pre-peak, by the day that is expected."""
        spans = {one["season"]: second(one["begin"]) for one in web().get("spans", ())}
        if not {"pre-peak", "peak"} <= spans.keys():
            return None
        return (spans["peak"] - spans["pre-peak"]) % DAY_S

    def season() -> str:
        return str(web().get("season"))

    until(lambda: announced_s() is not None, "it has a season", within_s=PATIENCE_S)
    assert (announced_s(), web()["starts"]) == (SLOT_S, 0), "nothing but the setting is known"

    made = replicated("web", namespace, PODS)
    probe = {"exec": {"command": ["true"]}, "initialDelaySeconds": UNREADY_S, "periodSeconds": 1}
    made["spec"]["template"]["spec"]["containers"] = [container(readinessProbe=probe)]
    cluster.apply(made)
    until(lambda: web()["starts"] == PODS, "all starts are measured", within_s=PATIENCE_S)
    lead_s = web()["lead_s"]
    assert lead_s > UNREADY_S
    until(lambda: announced_s() == lead_s, "the next day is foretold by it", within_s=PATIENCE_S)

    until(lambda: season() == "off-peak", "it is off-peak", within_s=PATIENCE_S)
    until(lambda: season() == "pre-peak", "its peak is announced", within_s=PATIENCE_S)
    begun = time.monotonic()
    until(lambda: season() == "peak", "its peak begins", within_s=PATIENCE_S)
    took_s = time.monotonic() - begun
    print(nemutator(brain, viewer, tmp_path, "seasons", "-n", namespace).stdout)
    print(f"lead {lead_s} s, pre-peak for {took_s:.1f} s")
    assert took_s > SLOT_S


def second(clock: str) -> float:
    """Of `second 90 of 240`."""
    return float(clock.split()[1])
