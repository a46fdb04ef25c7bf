"""How fast a hollow fleet is written to a real control plane, who spends the CPU, and whether it lives.

etcd, API server, controllers and scheduler run on this machine too: what counts is the CPU of each
process for one pod, which changes less than the rate with what else the machine does. A pod counts
when it exists with its status Running: two requests.

A small fleet is written once more while controllers and scheduler are stopped (SIGSTOP): what is left
is what etcd, the API server and we need for the pods themselves.

That the heartbeats keep nodes alive is shown for longer than the node controller's grace period,
beside one node that is silent on purpose and must be found dead.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import uvloop
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport

from tests.bench.frame import Result, aim
from tests.fakes.kube.configurations import Fixed
from tests.fakes.meters import MemoryMeter
from tests.hollow import pods
from tests.hollow.fleet import Fleet
from tests.hollow.plan import LABEL, Plan
from tests.processes import cpu_seconds
from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running import leftovers
from tests.testbed.running.run import running

NODES = 200
PODS = 10_000
CHURN_PER_S = 50.0
CHURNED = 1_000
SILENT = 0
GRACE_S = 50.0
"""The node controller's, as its flags default."""
HELD_S = 2 * GRACE_S
ALONE_PODS = 2_000
PEER_PODS = 1_000
PEER_THREADS = 16
PATIENCE_S = 1800.0
WANTED_PODS_PER_S = 500.0

Figures = dict[str, Any]


def bench() -> Result:
    with running() as run:
        cluster = control_plane.begin(run)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            peer = runner.run(official(cluster))
            alone = runner.run(without_controllers(cluster))
            ours = {**runner.run(measure(cluster)), **alone}
    return Result(
        measured=ours,
        peers={
            f"kubernetes (official), {PEER_THREADS} threads, {PEER_PODS} such pods": {
                **peer,
                "our_rate_in_its": round(ours["pods_per_s"] / peer["pods_per_s"], 2),
                "its_cpu_in_ours": round(
                    peer["cpu_ms_per_pod"]["client"] / ours["cpu_ms_per_pod"]["client"], 1
                ),
            }
        },
        aims=(
            aim(
                "pods per second that exist and are Running",
                ours["pods_per_s"],
                ">=",
                WANTED_PODS_PER_S,
            ),
            aim("writes refused", ours["refused"], "<=", 0),
            aim("pods replaced per second of churn", ours["churn_per_s"], ">=", CHURN_PER_S * 0.9),
            aim("nodes found dead although kept alive", ours["wrongly_dead_nodes"], "<=", 0),
            aim("nodes found dead because silent", ours["rightly_dead_nodes"], ">=", 1),
            aim("pods lost while kept alive", ours["pods_lost"], "<=", 0),
            aim("objects left after clearing", ours["left"], "<=", 0),
        ),
    )


async def measure(cluster: Cluster) -> Figures:
    plan = Plan(nodes=NODES, pods=PODS, namespaces=10)
    async with asyncio.timeout(PATIENCE_S), reached(cluster) as transport:
        fleet = Fleet(plan, transport, SystemClock(), roll=random.random)
        await fleet.populating.namespaces()
        begun = time.monotonic()
        await fleet.populating.nodes(range(NODES))
        nodes_s = time.monotonic() - begun
        await fleet.populating.workloads()
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(fleet.heartbeats.run())
            written = Spent.begin(cluster)
            await fleet.populating.pods(plan.lives())
            figures = {
                "nodes_per_s": round(NODES / nodes_s),
                **written.figures("pods_per_s", "cpu_ms_per_pod", PODS),
                "bytes_of_a_pod": await asyncio.to_thread(bytes_of_a_pod, cluster),
            }
            churned = Spent.begin(cluster)
            await fleet.churning.some(CHURNED, per_s=CHURN_PER_S)
            figures |= churned.figures("churn_per_s", "cpu_ms_per_replaced_pod", CHURNED)
            figures |= await hold(cluster, fleet)
            beating.cancel()
        begun = time.monotonic()
        await fleet.clearing.all()
        return figures | {
            "cleared_in_s": round(time.monotonic() - begun, 1),
            "left": sum((await fleet.clearing.left()).values()),
            "refused": fleet.tally.refused.total(),
            "postponed": fleet.tally.postponed.total(),
            "repeated": fleet.tally.repeated.total(),
        }


async def without_controllers(cluster: Cluster) -> Figures:
    plan = Plan(name="alone", nodes=20, pods=ALONE_PODS)
    async with asyncio.timeout(PATIENCE_S), reached(cluster) as transport:
        fleet = Fleet(plan, transport, SystemClock(), roll=random.random)
        with stopped(cluster, "kube-controller-manager", "kube-scheduler"):
            await fleet.populating.namespaces()
            await fleet.populating.nodes(range(plan.nodes))
            await fleet.populating.workloads()
            spent = Spent.begin(cluster)
            await fleet.populating.pods(plan.lives())
            figures = spent.figures(
                "pods_per_s_without_controllers", "cpu_ms_per_pod_without_controllers", ALONE_PODS
            )
        await fleet.clearing.all()
    return figures


@contextlib.contextmanager
def stopped(cluster: Cluster, *programs: str) -> Iterator[None]:
    pids = [pid for pid in leftovers.marked(cluster.run.directory) if _program(pid) in programs]
    assert len(pids) == len(programs)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


async def hold(cluster: Cluster, fleet: Fleet) -> Figures:
    """Longer than the grace period in which a node may say nothing."""
    before = await asyncio.to_thread(running_pods, cluster)
    fleet.heartbeats.silent = {SILENT}
    held = Spent.begin(cluster)
    await asyncio.sleep(HELD_S)
    figures = held.figures("held_s", "cpu_ms_per_second_held", HELD_S)
    dead = await asyncio.to_thread(dead_nodes, cluster)
    after = await asyncio.to_thread(running_pods, cluster)
    silent = fleet.plan.node_names[SILENT]
    return {
        "held_s": HELD_S,
        "cpu_ms_per_second_held": figures["cpu_ms_per_second_held"],
        "slowest_round_of_heartbeats_s": round(fleet.heartbeats.slowest_round_s, 1),
        "wrongly_dead_nodes": len(dead - {silent}),
        "rightly_dead_nodes": len(dead & {silent}),
        "pods_lost": len(before - after),
    }


def dead_nodes(cluster: Cluster) -> set[str]:
    return {
        node["metadata"]["name"]
        for node in listed(cluster, "nodes")
        if any(
            condition["type"] == "Ready" and condition["status"] != "True"
            for condition in node["status"]["conditions"]
        )
        or {taint["key"] for taint in node["spec"]["taints"]} != {LABEL}
    }


def running_pods(cluster: Cluster) -> set[str]:
    return {
        pod["metadata"]["uid"]
        for pod in listed(cluster, "pods")
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
    }


def listed(cluster: Cluster, plural: str) -> list[dict[str, Any]]:
    _, body = cluster.ask(f"/api/v1/{plural}?labelSelector={LABEL}%3Dhollow")
    manifests: list[dict[str, Any]] = json.loads(body)["items"]
    return manifests


def bytes_of_a_pod(cluster: Cluster) -> int:
    """As the server writes it in JSON; more than half of it is the server's own book-keeping."""
    _, body = cluster.ask(f"/api/v1/pods?labelSelector={LABEL}%3Dhollow&limit=500")
    return len(body) // len(json.loads(body)["items"])


def reached(cluster: Cluster) -> HttpTransport:
    access = Access(
        server=cluster.url, ca=cluster.ca_file.read_text(), token=Secret(cluster.admin_token)
    )
    return HttpTransport(Fixed(access), MemoryMeter())


@dataclass(frozen=True)
class Spent:
    """What was spent since it began: by us, and by each process of the control plane."""

    processes: Mapping[str, int]
    cpu_s: Mapping[str, float]
    at: float

    @classmethod
    def begin(cls, cluster: Cluster) -> "Spent":
        processes = {_program(pid): pid for pid in leftovers.marked(cluster.run.directory)}
        processes["client"] = os.getpid()
        return cls(processes, _cpu_s(processes), time.monotonic())

    def figures(self, rate: str, cost: str, manifests: float) -> Figures:
        wall_s = time.monotonic() - self.at
        now = _cpu_s(self.processes)
        each = {name: round((now[name] - self.cpu_s[name]) * 1e3 / manifests, 2) for name in now}
        return {
            rate: round(manifests / wall_s, 1),
            cost: {**each, "all": round(sum(each.values()), 2)},
        }


def _program(pid: int) -> str:
    """The part that the binary of all parts plays: its first argument."""
    return psutil.Process(pid).cmdline()[1]


def _cpu_s(processes: Mapping[str, int]) -> dict[str, float]:
    return {name: cpu_seconds(pid) for name, pid in processes.items()}


async def official(cluster: Cluster) -> Figures:
    """The same pods with the official client; what they need to be owned and placed is ours."""
    plan = Plan(name="peer", nodes=20, pods=PEER_PODS)
    async with asyncio.timeout(PATIENCE_S), reached(cluster) as transport:
        fleet = Fleet(plan, transport, SystemClock(), roll=random.random)
        await fleet.populating.namespaces()
        await fleet.populating.nodes(range(plan.nodes))
        await fleet.populating.workloads()
        lines = [
            json.dumps(
                {
                    "pod": pods.pod(
                        life, replica_set_uid=fleet.populating.owners[life.workload.number]
                    ),
                    "status": {"status": pods.running(life, now=time.time())},
                }
            )
            for life in plan.lives()
        ]
        given = cluster.run.file("peer.jsonl", "\n".join(lines))
        spent = Spent.begin(cluster)
        told = await asyncio.to_thread(_run_official, cluster, given)
        figures = spent.figures("pods_per_s", "cpu_ms_per_pod", PEER_PODS)
        await fleet.clearing.all()
    each = figures["cpu_ms_per_pod"]
    each["all"] = round(each["all"] - each["client"] + told["client"], 2)
    return {
        # Its own clock: starting Python and importing the package is not writing.
        "pods_per_s": told["pods_per_s"],
        "cpu_ms_per_pod": {**each, "client": told["client"]},
    }


def _run_official(cluster: Cluster, given: Path) -> dict[str, float]:
    ended = subprocess.run(
        [sys.executable, "-c", OFFICIAL, str(given), str(PEER_THREADS)],
        check=True, stdout=subprocess.PIPE, timeout=PATIENCE_S,
        env={"KUBECONFIG": str(cluster.kubeconfig)},
    )  # fmt: skip
    told: dict[str, float] = json.loads(ended.stdout)
    return told


OFFICIAL = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from kubernetes import client, config
objects = [json.loads(line) for line in open(sys.argv[1])]
config.load_kube_config()
configuration = client.Configuration.get_default_copy()
configuration.connection_pool_maxsize = int(sys.argv[2])
api = client.CoreV1Api(client.ApiClient(configuration))
def write(object):
    metadata = object["pod"]["metadata"]
    api.create_namespaced_pod(metadata["namespace"], object["pod"])
    api.patch_namespaced_pod_status(metadata["name"], metadata["namespace"], object["status"])
wall, cpu = time.monotonic(), time.process_time()
with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    for _ in pool.map(write, objects):
        pass
print(json.dumps({
    "pods_per_s": round(len(objects) / (time.monotonic() - wall), 1),
    "client": round((time.process_time() - cpu) * 1e3 / len(objects), 2),
}))
"""
