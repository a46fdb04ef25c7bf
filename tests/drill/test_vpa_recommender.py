"""VPA's own recommender, as the program that it ships, on a real control plane: what it writes into VerticalPodAutoscalers is what
our `vpa` strategy recommends from the same history and the same kills for memory, amount for amount.

Its history is a stand-in for Prometheus, of which each sample is known. No metrics server and no kubelet run: pods are said to
run, and to have been killed, by their status.
"""

import asyncio
import http.client
import json
import random
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from nemutator_controller.sizing.strategies.vpa_recommender import (
    Side,
    VpaAmounts,
    VpaContainer,
    VpaSample,
)

from tests.bench import vpa_recommender as theirs
from tests.bench.vpa_api import SmallApi
from tests.bench.vpa_programs import MODULE
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

PODS = 40
SEED = 17
PATIENCE_S = 300
SIDES: tuple[Side, ...] = ("target", "lower", "upper")
AUTOSCALERS = "verticalpodautoscalers.autoscaling.k8s.io"


@dataclass(frozen=True, slots=True)
class Killed:
    at: int
    requested_bytes: int


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    found = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", MODULE],
        cwd=Path(theirs.__file__).parent / "vpa_go",
        check=True, stdout=subprocess.PIPE, text=True, timeout=300,
    )  # fmt: skip
    definitions = Path(found.stdout.strip()) / "deploy" / "vpa-v1-crd-gen.yaml"
    cluster.kubectl("apply", "--server-side", "-f", str(definitions))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/{AUTOSCALERS}", "--timeout=60s")
    with new_namespace(cluster, "vpa") as name:
        yield name
    cluster.kubectl("delete", "-f", str(definitions))


async def test_it_recommends_the_same_from_the_same_history_and_kills(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    made, now = random.Random(SEED), int(time.time())
    fed = [history(f"c{number}", namespace, made, now) for number in range(PODS)]
    kills = {one.name: Killed(now, made.choice((0, 50_000_000, 3_000_000_000))) for one in fed[::2]}
    for one in fed:
        killed = kills.get(one.name)
        memory = str(killed.requested_bytes) if killed and killed.requested_bytes else None
        await asyncio.to_thread(
            cluster.apply,
            theirs.workload(one, memory=memory),
            theirs.pod(one, memory=memory),
            theirs.autoscaler(one),
        )
        await asyncio.to_thread(say_status, cluster, one, None)
    sources = theirs.VpaSources(fed)
    async with SmallApi({}).serving(*sources.routes()) as port:
        with theirs.recommending(
            tmp_path,
            kubeconfig=cluster.kubeconfig,
            sources=f"http://127.0.0.1:{port}",
            interval_s=2,
        ) as recommender:
            await asyncio.to_thread(
                until, recommender.has_made(1), "it has recommended", within_s=PATIENCE_S
            )
            before = await asyncio.to_thread(written, cluster, namespace)
            for one in fed[::2]:
                await asyncio.to_thread(say_status, cluster, one, kills[one.name])
            # One that runs already may have taken its kills before.
            later = recommender.rounds() + 2
            await asyncio.to_thread(
                until, recommender.has_made(later), "it has heard of kills", within_s=PATIENCE_S
            )
            after = await asyncio.to_thread(written, cluster, namespace)
    assert len(sources.asked) == 3
    assert before == {one.name: ours(one, None) for one in fed}
    assert after == {one.name: ours(one, kills.get(one.name)) for one in fed}
    raised = sum(after[name] != before[name] for name in kills)
    print(
        f"\n{PODS} containers, {sum(len(one.history) for one in fed)} samples, {len(kills)} kills, of which"
        f" {raised} changed what is recommended: {12 * PODS} amounts, none differs"
    )
    assert raised > 0


def history(name: str, namespace: str, made: random.Random, now: int) -> theirs.Fed:
    step, count = made.choice(((3_600, 180), (3_600, 30), (60, 200), (60, 1)))
    cores, used = 10 ** made.uniform(-3, 1), 10 ** made.uniform(7, 10)
    samples = [
        VpaSample(
            float(now - 120 - step * ago),
            cores * made.lognormvariate(0, 0.7),
            used * made.lognormvariate(0, 0.3),
        )
        for ago in reversed(range(count))
    ]
    return theirs.Fed(name, namespace, samples)


def ours(one: theirs.Fed, killed: Killed | None) -> dict[Side, VpaAmounts]:
    container = VpaContainer()
    container.take(one.samples)
    if killed:
        container.kill(float(killed.at), killed.requested_bytes)
    return {side: container.recommend(side) for side in SIDES}


def written(cluster: Cluster, namespace: str) -> dict[str, dict[str, VpaAmounts]]:
    items: list[dict[str, Any]] = cluster.get(AUTOSCALERS, f"--namespace={namespace}")["items"]
    return {one["metadata"]["name"]: dict(theirs.amounts(one["status"])) for one in items}


def say_status(cluster: Cluster, one: theirs.Fed, killed: Killed | None) -> None:
    """That it runs, and was killed for memory and started again, as kubelet says it."""
    path = f"/api/v1/namespaces/{one.namespace}/pods/{one.name}"
    status, said = cluster.ask(path)
    assert status == http.client.OK, said
    pod = json.loads(said)
    container: dict[str, Any] = {
        "name": theirs.CONTAINER, "image": "none", "imageID": "", "ready": True,
        "restartCount": 0, "state": {"running": {}},
    }  # fmt: skip
    if killed:
        at = f"{datetime.fromtimestamp(killed.at, UTC):%Y-%m-%dT%H:%M:%SZ}"
        ended = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": at}
        container |= {"restartCount": 1, "lastState": {"terminated": ended}}
    pod["status"] = {"phase": "Running", "containerStatuses": [container]}
    status, said = cluster.ask(f"{path}/status", method="PUT", given=pod)
    assert status == http.client.OK, said
