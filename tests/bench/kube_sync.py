"""150 000 pods, 5 000 nodes and 60 000 ReplicaSets into memory, then churn; beside the official client.

The client runs here, the server (`kube_server.py`) in a process of its own on the same machine; CPU
is ours alone, wall time is both.
"""

import asyncio
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvloop
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import PODS, REPLICA_SETS
from nemutator_controller.kube.transport import HttpTransport

from tests.bench.frame import Result, aim
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.indexes import by_namespace, by_node, by_owner
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.hollow.nodes import NODES
from tests.processes import own_memory

COUNTS = {"pods": 150_000, "nodes": 5_000, "replicasets": 60_000}
SAMPLE = 5_000
CHURN_EVENTS = 60_000
PATIENCE_S = 600.0

Figures = dict[str, float]


def bench() -> Result:
    with server() as url:
        with uvloop_runner() as runner:
            ours = runner.run(sync(url))
        peer = official(url)
    list_for_list = peer["cpu_s"] / ours["list_of_5000_cpu_s"]
    sync_for_list = peer["cpu_s"] / SAMPLE / (ours["pods_cpu_s"] / COUNTS["pods"])
    return Result(
        measured=ours,
        peers={
            "kubernetes (official), a list of 5 000 pods": {
                **peer,
                "times_our_sync_per_pod": round(sync_for_list, 1),
                "times_our_list": round(list_for_list, 1),
            }
        },
        aims=(
            aim("CPU seconds of the whole sync", ours["sync_cpu_s"], "<=", 15.0),
            aim("GB of RssAnon after it", ours["rss_anon_gb"], "<=", 1.5),
            aim(
                "times less CPU per pod, ours for the whole sync, than the official client's list",
                round(sync_for_list, 1),
                ">=",
                30.0,
            ),
            aim("events per second sustained", ours["events_per_s"], ">=", 3_000.0),
        ),
    )


async def sync(url: str) -> Figures:
    started, cpu = time.monotonic(), time.process_time()
    configuration = Fixed(Access(server=url))
    async with (
        HttpTransport(configuration, MemoryMeter()) as transport,
        asyncio.TaskGroup() as group,
    ):
        common: dict[str, Any] = {
            "transport": transport,
            "process": fake_process(clock=SystemClock()),
        }
        pods = Informer(
            PODS,
            indexes={"node": by_node, "namespace": by_namespace, "owner": by_owner},
            **common,
        )
        async with asyncio.timeout(PATIENCE_S):
            tasks = [group.create_task(pods.run())]
            await pods.synced()
            pods_cpu_s = time.process_time() - cpu
            for informer in (Informer(NODES, **common), Informer(REPLICA_SETS, **common)):
                tasks.append(group.create_task(informer.run()))
                await informer.synced()
        # What is there stays: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        figures = {
            "sync_cpu_s": round(time.process_time() - cpu, 2),
            "sync_wall_s": round(time.monotonic() - started, 2),
            "pods_cpu_s": round(pods_cpu_s, 2),
            "rss_anon_gb": round(own_memory(os.getpid()) / 1e9, 3),
            "peak_rss_gb": round(
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3
            ),
        }
        assert len(pods.snapshot()) == COUNTS["pods"]
        figures.update(await churn(url, pods))
        figures["list_of_5000_cpu_s"] = await one_list(transport)
        for task in tasks:
            task.cancel()
    return figures


async def one_list(transport: HttpTransport) -> float:
    """What the official client is asked for, read by ours in the same way; the median of three."""
    took = []
    for _ in range(3):
        cpu = time.process_time()
        page = await anext(Reader(transport).pages(PODS, limit=SAMPLE))
        took.append(time.process_time() - cpu)
        assert len(page.items) == SAMPLE
    return round(statistics.median(took), 3)


async def churn(url: str, pods: Informer[Pod]) -> Figures:
    """Changes as fast as they come, folded by a subscriber, with a snapshot every 1 000."""
    with pods.subscribe("bench", capacity=100_000) as subscription:
        await subscription.next()
        started, cpu = time.monotonic(), time.process_time()
        await asyncio.to_thread(ask_for_churn, url)
        async with asyncio.timeout(PATIENCE_S):
            for number in range(CHURN_EVENTS):
                await subscription.next()
                if number % 1000 == 0:
                    pods.snapshot()
        wall_s, cpu_s = time.monotonic() - started, time.process_time() - cpu
    return {
        "events": CHURN_EVENTS,
        "events_per_s": round(CHURN_EVENTS / wall_s),
        "cpu_ms_per_1000_events": round(cpu_s * 1e6 / CHURN_EVENTS, 1),
    }


def ask_for_churn(url: str) -> None:
    address = f"{url}/churn/pods?events={CHURN_EVENTS}"
    subprocess.run([sys.executable, "-c", POST, address], check=True, timeout=60)


POST = (
    "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], method='POST'), timeout=50)"
)


def official(url: str) -> Figures:
    """The same pods through the official client, one list of a sample, in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", OFFICIAL, url, str(SAMPLE)],
        check=True, capture_output=True, timeout=PATIENCE_S,
    )  # fmt: skip
    figures: Figures = json.loads(ended.stdout)
    return figures


OFFICIAL = """
import json, sys, time
import psutil
from kubernetes import client
configuration = client.Configuration()
configuration.host = sys.argv[1]
api = client.CoreV1Api(client.ApiClient(configuration))
took, wall = [], time.monotonic()
for _ in range(3):
    found, cpu = None, time.process_time()
    found = api.list_pod_for_all_namespaces(limit=int(sys.argv[2]))
    took.append(time.process_time() - cpu)
    assert len(found.items) == int(sys.argv[2])
memory = psutil.Process().memory_info()
print(json.dumps({
    "cpu_s": round(sorted(took)[1], 2),
    "wall_s": round((time.monotonic() - wall) / 3, 2),
    "rss_anon_gb": round((memory.rss - memory.shared) / 1e9, 3),
}))
"""


@contextmanager
def server() -> Iterator[str]:
    """The server's address. It ends when its standard input does."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.kube_server", json.dumps(COUNTS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.stdin is not None
        process.stdin.close()


def uvloop_runner() -> asyncio.Runner:
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
