"""The first nemutator's question: how fast can 500 nodes and 1 000 pods be scraped? And how does that grow?

For each size a process of its own learns the cluster from a local server of nothing but bytes (`scrape_server.py`),
by the brain's informers, takes in what each container used, and answers /nodes and /workloads as the brain does. The
peer is what the first nemutator did: the official client's lists of nodes, pods, ReplicaSets and Deployments, made
into dictionaries.
"""

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
import uvloop
from aiohttp import ClientSession, UnixConnector, web
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import Envelope
from nemutator_controller.cluster.inventory_watching import ObjectsWatch
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.inventory.current_use import CurrentUse
from nemutator_controller.inventory.endpoint import InventoryApi
from nemutator_controller.inventory.model import UseLevels
from nemutator_controller.inventory.taking import CountedCluster
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import DEPLOYMENTS
from nemutator_controller.kube.transport import HttpTransport

from tests.bench import brain_scale_shape as shape
from tests.bench.frame import Result, aim
from tests.fakes.inventory import FixedLevels
from tests.fakes.kube.configurations import Fixed
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reports import report
from tests.processes import own_memory

SIZES = ((500, 1_000), (1_000, 10_000), (2_500, 75_000), (5_000, 150_000))
PEER_PODS = 10_000
"""The official client took 0.56 GB for 5 000 pods: it is not asked for more than twice that."""

PATIENCE_S = 900.0
TICK_S = 0.005

Figures = dict[str, Any]


def bench() -> Result:
    ours, peers = {}, {}
    for nodes, pods in SIZES:
        name = f"{nodes} nodes, {pods} pods"
        with server(nodes, pods) as url:
            ours[name] = child("--ours", url, nodes, pods)
            if pods <= PEER_PODS:
                peer = json.loads(run(sys.executable, "-c", OFFICIAL, url))
                cpu_s = ours[name]["sync_cpu_s"] + ours[name]["counting_cpu_s"]
                peers[f"{name}: kubernetes (official), lists as dictionaries"] = {
                    **peer,
                    "times_our_cpu": round(peer["cpu_s"] / cpu_s, 1),
                }
    least, most = (ours[f"{nodes} nodes, {pods} pods"] for nodes, pods in (SIZES[0], SIZES[-1]))
    return Result(
        measured=ours,
        peers=peers,
        aims=(
            aim("seconds to know 500 nodes and 1 000 pods", least["sync_wall_s"], "<=", 1.0),
            aim("ms to answer /workloads of them", least["workloads_ms"], "<=", 300),
            aim("CPU seconds to know 5 000 nodes and 150 000 pods", most["sync_cpu_s"], "<=", 15.0),
            aim("GiB to know them", most["rss_anon_gib"], "<=", 1.0),
            aim("ms that the loop was held while they were counted and shown", most["held_ms"], "<=", 100),
        ),
    )  # fmt: skip


async def measure(url: str, nodes: int, pods: int) -> Figures:
    shape.NODES, shape.PODS = nodes, pods
    begun, cpu = time.monotonic(), time.process_time()
    async with (
        HttpTransport(Fixed(Access(server=url)), MemoryMeter()) as transport,
        asyncio.TaskGroup() as group,
    ):
        process = fake_process(clock=SystemClock())
        watch = ClusterWatch(transport, process)
        deployments = Informer(DEPLOYMENTS, transport=transport, process=process)
        objects = ObjectsWatch(transport, process, {"Deployment": deployments})
        bodies = {**watch.tasks(), **objects.tasks(), "watch deployments": deployments.run}
        tasks = [group.create_task(body(), name=name) for name, body in bodies.items()]
        async with asyncio.timeout(PATIENCE_S):
            for informer in (watch.pods, watch.replica_sets, watch.jobs, deployments):
                await informer.synced()
            for other in vars(objects).values():
                if isinstance(other, Informer):
                    await other.synced()
        assert not objects.snapshot().unlisted
        figures: Figures = {
            "sync_wall_s": round(time.monotonic() - begun, 2),
            "sync_cpu_s": round(time.process_time() - cpu, 2),
        }
        gc.collect()
        gc.freeze()
        figures["rss_anon_gib"] = round(own_memory(os.getpid()) / 2**30, 3)
        figures |= await answered(Watched(watch, objects), nodes)
        figures["rss_anon_gib_after_answers"] = round(own_memory(os.getpid()) / 2**30, 3)
        for task in tasks:
            task.cancel()
    return figures


class Watched:
    def __init__(self, watch: ClusterWatch, others: ObjectsWatch) -> None:
        self._watch, self._others = watch, others

    def pods(self) -> ClusterSnapshot | None:
        return self._watch.snapshot()

    def objects(self) -> ObjectsSnapshot:
        return self._others.snapshot()


async def answered(watched: Watched, nodes: int) -> Figures:
    """What it takes to count the cluster, and to answer from that."""
    clock = SystemClock()
    use, reported = CurrentUse(most_nodes=nodes), Nodes(most=nodes)
    for number in range(nodes):
        name = shape.node_name(number)
        use.learn(name, used(number, clock.now()), clock.now())
        reported.see(name, "e", Envelope(1, report(clock.now())), now=clock.now())
    levels = {
        (f"team-{number % shape.NAMESPACES}", "Deployment", f"app-{number}", container): UseLevels(
            0.01, 0.05, 100 << 20, 200 << 20
        )
        for number in range(-(-shape.PODS // shape.PODS_PER_WORKLOAD))
        for container in shape.CONTAINERS
    }
    counted = CountedCluster(watched, use, FixedLevels(levels), asyncio.to_thread, clock)
    api = InventoryApi(
        counted, reported.all, lambda: 60.0, in_cluster=True, process=fake_process(clock=clock)
    )
    figures: Figures = {}
    held = Held()
    async with asyncio.TaskGroup() as group, served(api) as ask:
        ticking = group.create_task(held.watch())
        figures["counting_s"], figures["counting_cpu_s"], _ = await timed(lambda: counted.now())
        for name, path in (
            ("nodes", "/api/v1/nodes"),
            ("workloads", "/api/v1/workloads?orderBy=waste"),
            ("tree_of_a_namespace", "/api/v1/workloads?as=tree&namespace=team-7"),
            ("namespaces", "/api/v1/workloads?as=namespaces"),
        ):
            wall_s, _, size = await timed(lambda path=path: ask(path))  # type: ignore[misc]
            figures[f"{name}_ms"] = round(wall_s * 1e3, 1)
            figures[f"{name}_kib"] = round(size / 1024)
        figures["held_ms"] = round(held.longest_s * 1e3)
        ticking.cancel()
    total = (await counted.now()).total
    assert (total.pods, total.cpu_cores is not None) == (shape.PODS, True)
    return figures


@contextlib.asynccontextmanager
async def served(api: InventoryApi) -> Any:
    """*api* on a unix socket, and a client that reads all of an answer and says how long it is."""
    app = web.Application()
    app.add_routes(api.routes())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    socket = f"/tmp/nemutator-scrape-{os.getpid()}.sock"
    await web.UnixSite(runner, socket).start()
    try:
        async with ClientSession("http://x", connector=UnixConnector(socket)) as session:

            async def ask(path: str) -> int:
                async with session.get(path) as answer:
                    assert answer.status == 200, await answer.text()
                    return len(await answer.read())

            yield ask
    finally:
        await runner.cleanup()


def used(node: int, now: float) -> UsagePoints:
    """What the containers on *node* used in the last quarter of a minute."""
    series = [
        Series(f"/kubepods/{pod}/{number}", shape.uid(pod), shape.container_id(pod, number), None)
        for pod in shape.pods_of(node)
        for number in range(len(shape.CONTAINERS))
    ]
    count = len(series)
    return UsagePoints(
        series=series,
        of=np.arange(count, dtype=np.int32),
        from_at=np.full(count, now - 15),
        to_at=np.full(count, now),
        columns={"cpu_cores": np.full(count, 0.02), "memory_bytes": np.full(count, 1e8)},
    )


class Held:
    """How late a tick of the loop came at worst."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(TICK_S)
            self.longest_s = max(self.longest_s, time.monotonic() - began - TICK_S)


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, float, Any]:
    wall, cpu = time.monotonic(), time.process_time()
    result = await work()
    return round(time.monotonic() - wall, 3), round(time.process_time() - cpu, 3), result


def child(*words: object) -> Figures:
    figures: Figures = json.loads(run(sys.executable, "-m", "tests.bench.scrape", *words))
    return figures


def run(*argv: object) -> str:
    return subprocess.run(
        [str(word) for word in argv], check=True, stdout=subprocess.PIPE, text=True,
        timeout=PATIENCE_S,
    ).stdout  # fmt: skip


OFFICIAL = """
import json, sys, time
import psutil
from kubernetes import client
configuration = client.Configuration()
configuration.host = sys.argv[1]
api = client.ApiClient(configuration)
core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
wall, cpu = time.monotonic(), time.process_time()
kept = [
    core.list_node().to_dict(),
    core.list_pod_for_all_namespaces().to_dict(),
    apps.list_replica_set_for_all_namespaces().to_dict(),
    apps.list_deployment_for_all_namespaces().to_dict(),
]
memory = psutil.Process().memory_info()
print(json.dumps({
    "cpu_s": round(time.process_time() - cpu, 2),
    "wall_s": round(time.monotonic() - wall, 2),
    "rss_anon_gib": round((memory.rss - memory.shared) / 2**30, 3),
}))
"""


@contextlib.contextmanager
def server(nodes: int, pods: int) -> Iterator[str]:
    """The server's address. It ends when its standard input does."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.scrape_server", str(nodes), str(pods)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.stdin is not None
        process.stdin.close()


if __name__ == "__main__":
    _, _, address, node_count, pod_count = sys.argv
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(measure(address, int(node_count), int(pod_count)))
    sys.stdout.write(json.dumps(found) + "\n")
