"""Off-peak, pods of a real kubelet that run request less, and from the beginning of pre-peak on what is advised then again, one after
another, in place, without a restart.

What they used is what the agent of their node reports: little in most quarters of a minute, and much in some. A day takes four
minutes, of which the second half is busy, by days that the brain has learned before.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common.admission_snapshots import TOMBSTONES_PATH
from nemutator_common.wire import Batch, Envelope, Report, Summary
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.drill.test_aggressors_aside import DAY_S, learned
from tests.e2e.testbed.in_cluster.installation import REPORTS, Installation, installed, refusals
from tests.e2e.testbed.planted_pods import container as container_of
from tests.e2e.testbed.test_packing import season_policy
from tests.e2e.testbed.test_resize import limits_of
from tests.e2e.testbed.workloads import container, replicated, wait_ready
from tests.fakes.databases import opened
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

PATIENCE_S = 900
STEP_S = 15.0
STEPS = 240
SELDOM = 5
"""One of so many quarters of a minute is busy."""
LITTLE, MUCH = 0.05, 0.4
"""Cores."""

Json = dict[str, Any]


@pytest.fixture
def brain(cluster: Cluster, tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "data").mkdir(mode=0o700)
    with opened(tmp_path / "data" / "nemutator.db") as database:
        asyncio.run(SqlSeasonDays(database).save(learned(), day_s=DAY_S))
    for plural in ("mutationpolicies", "seasonpolicies", "sizingpolicies"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    with (
        new_namespace(cluster, "off-peak") as name,
        installed(cluster, name, tmp_path, NEMUTATOR_BRAIN_SEASON_DAY_S=str(DAY_S)) as made,
    ):
        yield made
    cluster.kubectl("delete", "seasonpolicy,sizingpolicy", "--all")


def sizing(namespace: str) -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "SizingPolicy",
        "metadata": {"name": "web"},
        "spec": {
            "mode": "InPlace",
            "match": {"namespaces": [namespace]},
            "when": {"season": ["off-peak"]},
            "resources": {"cpu": {"largestStepPercent": 1000}, "memory": {"enabled": False}},
            "settledSeconds": 0,
            "coolDownSeconds": 60,
        },
    }


def used(now: float, rows: list[tuple[str, str]]) -> Report:
    summaries = [
        Summary(
            path=f"/kubepods/pod{uid}/{id_}",
            pod_uid=uid,
            container_id=id_,
            from_at=now - (ago + 1) * STEP_S,
            to_at=now - ago * STEP_S,
            cpu_cores=LITTLE if ago % SELDOM else MUCH,
            memory_bytes=8 << 20,
        )
        for uid, id_ in rows
        for ago in range(STEPS, 0, -1)
    ]
    return replace(report(now), summaries=tuple(summaries))


def millis(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)


def test_pods_become_smaller_off_peak_and_again_as_large_as_advised_as_the_peak_comes(
    brain: Installation, cluster: Cluster, node: Node, image: ImageStore, namespace: str
) -> None:
    where = f"--namespace={namespace}"
    web = replicated("web", namespace, 2)
    asked = {"requests": {"cpu": "300m", "memory": "16Mi"}}
    web["spec"]["template"]["spec"]["containers"] = [container(resources=asked)]
    cluster.apply(web)
    wait_ready(cluster, namespace, "deployment/web")

    def pods() -> list[Json]:
        found: list[Json] = cluster.get("pods", where, "--selector=app=web")["items"]
        return found

    first = pods()
    on = str(first[0]["spec"]["nodeName"])
    brain.pod("agent", on, "nemutator-agent")
    agent = brain.token("nemutator-agent", pod="agent")
    told = used(time.time(), [container_of(one) for one in first])
    body = msgspec.json.encode(Batch(on, "e1", (Envelope(1, told),)))
    answer = brain.ask(brain.uplink, REPORTS, token=agent, body=body)
    assert answer.status == 200, answer.body
    brain.pod("admission-1", on, "nemutator-admission")
    admission = brain.token("nemutator-admission", pod="admission-1")
    viewer = brain.token("viewer", audience="")
    seen: list[tuple[float, str, list[int]]] = []

    def season() -> str:
        shown = brain.ask(brain.console, "/api/v1/seasons", token=viewer)
        return str((shown.json["cluster"] or {}).get("season"))

    def look() -> tuple[str, list[int]]:
        """The season, and what both pods request. A replica of admission that nobody hears of would hold all resizes."""
        heard = brain.ask(brain.uplink, TOMBSTONES_PATH, token=admission)
        assert heard.status in (200, 304), heard
        now = season()
        requested = [
            millis(one["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for one in pods()
        ]
        if not seen or (now, requested) != seen[-1][1:]:
            seen.append((round(time.time() - begun, 1), now, requested))
            print(*seen[-1], flush=True)
        return now, requested

    begun = time.time()
    cluster.apply(season_policy("night", advice={"cpuPercentile": 50}), sizing(namespace))
    until(lambda: look()[0] in ("peak", "surprise"), "it is busy", within_s=PATIENCE_S)
    until(lambda: look()[0] == "off-peak", "off-peak begins", within_s=PATIENCE_S)
    until(lambda: max(look()[1]) < 150, "both request less", within_s=PATIENCE_S)
    small = limits_of(node, first[0]["metadata"]["uid"])
    assert seen[-1][1] == "off-peak"
    until(lambda: min(look()[1]) > 350, "both request what a peak needs", within_s=PATIENCE_S)
    assert seen[-1][1] in ("pre-peak", "peak")

    def actuated() -> bool:
        several = [one["status"]["containerStatuses"][0]["resources"]["requests"] for one in pods()]
        return look() is not None and all(millis(one["cpu"]) > 350 for one in several)

    until(actuated, "kubelet has made it", within_s=PATIENCE_S)
    assert limits_of(node, first[0]["metadata"]["uid"]).share > small.share
    last = pods()
    assert {one["metadata"]["uid"] for one in last} == {one["metadata"]["uid"] for one in first}
    assert all(one["status"]["containerStatuses"][0]["restartCount"] == 0 for one in last)
    print(json.dumps(seen))
    assert refusals(brain) == []
