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
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.node.node import Node

NAME = "prometheus-operated"
PORT = 9090
POD = "prometheus"


@dataclass
class Place:
    """A cluster with one."""

    kubeconfig: Path
    prometheus: FakePrometheus
    namespace: str


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


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.e2e)])
def parts(request: pytest.FixtureRequest) -> Iterator[tuple[Cluster, Node, str] | None]:
    """Of the testbed, which start without an event loop; None: the fakes."""
    if request.param == "fake":
        yield None
        return
    cluster, node = map(request.getfixturevalue, ("cluster", "node"))
    with new_namespace(cluster) as name:
        yield cluster, node, name


@pytest.fixture
async def place(parts: tuple[Cluster, Node, str] | None, tmp_path: Path) -> AsyncIterator[Place]:
    there = FakePrometheus()
    if parts is None:
        async with there.serving(), forwarding(ForwardingCluster()) as fake:
            await recorded(RecordingEngine(there.url), CORNER)
            fake.services[f"monitoring/{NAME}:{PORT}"] = service("monitoring"), there.url
            yield Place(fake.kubeconfig(tmp_path), there, "monitoring")
        return
    cluster, _, namespace = parts
    # An API server passes on to the addresses of pods alone: this one has the machine's, where the fake listens.
    async with there.serving("0.0.0.0"):
        await recorded(RecordingEngine(there.url), CORNER)
        port = int(there.url.rpartition(":")[2])
        pod = sleeping(POD, namespace, hostNetwork=True)
        await asyncio.to_thread(cluster.apply, service(namespace, port), pod)
        await asyncio.to_thread(wait_ready, cluster, namespace, f"pod/{POD}")
        yield Place(cluster.kubeconfig, there, namespace)


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
    assert all("Authorization" not in headers for headers, _ in place.prometheus.asked)


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
