"""A Prometheus that nobody has named: by the command line through an API server, and by the brain."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.app.prometheus import prometheus
from nemutator_controller.prometheus_finding import PrometheusFinding
from nemutator_controller.settings.brain import BrainSettings

from tests.contract.in_cluster.watched_cluster import watched
from tests.contract.kube.waiting import until
from tests.contract.prometheus.test_usage import CORNER, recorded
from tests.contract.recording_engines import RecordingEngine
from tests.e2e.testbed.workloads import sleeping, wait_ready
from tests.fakes.forwarding import ForwardingCluster, forwarding
from tests.fakes.kube import kinds
from tests.fakes.process import fake_process
from tests.fakes.prometheus import FakePrometheus
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.prometheus import Prometheus
from tests.testbed.parts.prometheus import begin as begin_prometheus

NAME = "prometheus-operated"
PORT = 9090
EVERYWHERE = "0.0.0.0"
POD = "prometheus"


@dataclass
class Place:
    """A cluster with one."""

    kubeconfig: Path
    namespace: str
    fake: FakePrometheus | None = None
    """Who is asked, where that is no real one."""


def service(namespace: str, behind: int = PORT) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": NAME,
            "namespace": namespace,
            "labels": {"operated-prometheus": "true"},
        },
        "spec": {
            "selector": {"app": POD},
            "ports": [{"name": "web", "port": PORT, "protocol": "TCP", "targetPort": behind}],
        },
    }


@dataclass(frozen=True, slots=True)
class Parts:
    """Of the testbed, which start without an event loop."""

    cluster: Cluster
    namespace: str
    prometheus: Prometheus | None
    """None: a fake, behind a real API server."""


@pytest.fixture(
    params=[
        "fakes",
        pytest.param("real API server", marks=pytest.mark.e2e),
        pytest.param("all real", marks=pytest.mark.e2e),
    ]
)
def parts(request: pytest.FixtureRequest) -> Iterator[Parts | None]:
    """None: there is none."""
    if request.param == "fakes":
        yield None
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    request.getfixturevalue("node")
    real = None
    if request.param == "all real":
        with skipped_when_missing():
            real = begin_prometheus(cluster.run, name="prometheus-of-pods", address=EVERYWHERE)
    with new_namespace(cluster) as name:
        yield Parts(cluster, name, real)


@pytest.fixture
async def place(parts: Parts | None, tmp_path: Path) -> AsyncIterator[Place]:
    fake = FakePrometheus()
    if parts is None:
        async with fake.serving(), forwarding(ForwardingCluster()) as cluster:
            await recorded(RecordingEngine(fake.url), CORNER)
            cluster.services[f"monitoring/{NAME}:{PORT}"] = service("monitoring"), fake.url
            yield Place(cluster.kubeconfig(tmp_path), "monitoring", fake)
    elif parts.prometheus is None:
        async with fake.serving(EVERYWHERE):
            await stands_in(parts, fake.url)
            yield Place(parts.cluster.kubeconfig, parts.namespace, fake)
    else:
        await stands_in(parts, parts.prometheus.url)
        yield Place(parts.cluster.kubeconfig, parts.namespace)


async def stands_in(parts: Parts, url: str) -> None:
    """Have a Service for who listens at *url*: an API server passes on to the addresses of pods alone, and this one has
    the machine's."""
    await recorded(RecordingEngine(url), CORNER)
    port = int(url.rpartition(":")[2])
    pod = sleeping(POD, parts.namespace, hostNetwork=True)
    await asyncio.to_thread(parts.cluster.apply, service(parts.namespace, port), pod)
    await asyncio.to_thread(wait_ready, parts.cluster, parts.namespace, f"pod/{POD}")


async def advise(*words: str | Path) -> subprocess.CompletedProcess[str]:
    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nemutator_ctl", "advise", "--prometheus", "--days=1", *words],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return await asyncio.to_thread(run)


async def test_a_command_asks_the_clusters_own_by_its_api_server(place: Place) -> None:
    words = ("--kubeconfig", place.kubeconfig, "-n", CORNER, "-o", "json")
    async with asyncio.timeout(240):
        while True:
            ran = await advise(*words)
            # The API server's own watch learns of a new Service and its endpoints a moment later.
            if ran.returncode != ExitCode.UNREACHABLE:
                break
    assert ran.returncode == 0, ran.stderr
    assert f"asks Prometheus {place.namespace}/{NAME}:{PORT} by the API server" in ran.stderr
    [row] = json.loads(ran.stdout)["items"]
    assert (row["owner"], row["strategy"]) == ("cart", "nemutator")
    # Whoever is asked has no business with the token that is for the API server.
    asked = place.fake.asked if place.fake else []
    assert all("Authorization" not in headers for headers, _ in asked)


async def test_a_cluster_without_one_says_so(tmp_path: Path) -> None:
    async with forwarding(ForwardingCluster()) as cluster:
        ran = await advise("--kubeconfig", cluster.kubeconfig(tmp_path))
        assert ran.returncode == ExitCode.UNREACHABLE
        assert "no Service is a Prometheus that knows containers" in ran.stderr
        ran = await advise(
            "--kubeconfig", cluster.kubeconfig(tmp_path), "--prometheus-tenant", "me"
        )
        assert ran.returncode == ExitCode.USAGE
        assert "name the Prometheus by its URL" in ran.stderr


async def test_a_brain_looks_where_it_is_told_to_alone(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        for namespace in ("team", "shop-monitoring"):
            kube.store.put(kinds.SERVICES, service(namespace))
        process = fake_process()
        found = prometheus(
            BrainSettings(prometheus="find", prometheus_token_file="/nowhere"), process, cluster
        )
        assert isinstance(found, PrometheusFinding)

        async def listed() -> bool:
            return len(list(found.services() or ())) == 1

        await until(listed, "the Service of one of both is seen")
        [one] = found.services() or ()
        assert (one.namespace, one.ports) == ("shop-monitoring", (("web", PORT),))
