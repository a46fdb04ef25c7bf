"""Real kube-schedulers fill the same hollow cluster with the same pods, one after the other.

The extender is ours, over HTTP, with the scores and the snapshot's age of the brain; what the brain would learn from
agents is what the world of the bench says.
"""

import asyncio
import contextlib
import http.client
import random
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from aiohttp import web
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import PODS
from nemutator_controller.placement.endpoint import SchedulerExtender
from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.refreshing import EVERY_S, KeptNodesSnapshot

from tests.bench.placement_admission import AdmissionOutlet
from tests.bench.placement_world import FILLING, World
from tests.fakes.process import fake_process
from tests.hollow import pods, writes
from tests.hollow.fleet import Fleet
from tests.hollow.plan import LABEL, Life, Plan
from tests.hollow.sending import Sender
from tests.testbed.parts import schedulers
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import LOOPBACK, free_port

BOUND_S = 120.0
NODES, PODS_THERE = 50, 400
ATTEMPTS = 'scheduler_scheduling_attempt_duration_seconds_{}{{profile="{}",result="scheduled"}}'

MOVING = "extender-and-moves"
"""As a descheduler does, the emptiest node's pods are evicted in each step, where all of them have room elsewhere."""
ADMISSION = "admission"
"""The default scheduler, with labels of nodes and the affinity that admission adds."""
WITH_EXTENDER = ("extender", MOVING)

Figures = dict[str, Any]


def configuration(name: str, extender: int) -> dict[str, Any]:
    """The default, the scheduler's own way to pack, and ours as `deploy/scheduler` has it."""
    profile: dict[str, Any] = {"schedulerName": name}
    made: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "profiles": [profile],
    }
    if name == "most-allocated":
        strategy = {
            "type": "MostAllocated",
            "resources": [{"name": one, "weight": 1} for one in ("cpu", "memory")],
        }
        profile["pluginConfig"] = [
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}
        ]
    if name in WITH_EXTENDER:
        off = [{"name": "NodeResourcesFit"}, {"name": "NodeResourcesBalancedAllocation"}]
        profile["plugins"] = {"score": {"disabled": off}}
        made["extenders"] = [
            {
                "urlPrefix": f"http://{LOOPBACK}:{extender}",
                "prioritizeVerb": "prioritize",
                "weight": 10,
                "nodeCacheCapable": True,
                "ignorable": True,
                # What else runs on the machine must not decide which scores are counted.
                "httpTimeout": "10s",
            }
        ]
    return made


@dataclass
class Filled:
    """What stands where, and the `NodesSource` of the extender."""

    world: World
    placed: dict[Life, str] = field(default_factory=dict)
    known: dict[Life, str] = field(default_factory=dict)
    step: int = 0
    seen: dict[str, str] = field(default_factory=dict)
    """Where each pod is that has been seen on a node, as a watch tells."""

    def has_flows(self) -> bool:
        return False

    def node_of(self, uid: str) -> str | None:
        return self.seen.get(uid, "")

    async def take(self) -> NodesSnapshot | None:
        return self.world.snapshot(
            self.placed, self.known, self.step, bound=frozenset(self.seen), now=time.time()
        )


async def filled(cluster: Cluster, transport: Transport, name: str, seed: int = 0) -> Figures:
    plan = Plan(
        name=name, nodes=NODES, pods=PODS_THERE, namespaces=2, largest_workload=20, seed=seed
    )
    fleet = Fleet(plan, transport, SystemClock(), roll=random.random)
    sender = Sender(transport, SystemClock(), roll=random.random)
    state = Filled(World(plan))
    await fleet.populating.namespaces()
    await fleet.populating.nodes(range(plan.nodes))
    await fleet.populating.workloads()
    found: list[Mapping[str, float]] = []
    moved, outlet = 0, AdmissionOutlet() if name == ADMISSION else None
    async with answering(state) as extender:
        scheduler, port = await asyncio.to_thread(
            schedulers.begin,
            cluster,
            f"scheduler-{name}",
            configuration(name, extender),
            token=cluster.admin_token,
        )
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(fleet.heartbeats.run())
            for step, (ends, come) in enumerate(state.world.steps()):
                state.step, state.known = step, dict(state.placed)
                if outlet is not None and (found_nodes := await state.take()) is not None:
                    await outlet.step(found_nodes, sender)
                for life in ends:
                    del state.placed[life]
                await sender.each(ends, lambda life: _end(sender, life))
                await sender.each(
                    come,
                    lambda life: _begin(sender, life, fleet.populating.owners, name, outlet),
                )
                await _until_bound(transport, plan, state, come)
                if step >= FILLING and name == MOVING:
                    leaving = state.world.to_move(state.placed, step)
                    moved += len(leaving)
                    for life in leaving:
                        del state.placed[life]
                    await sender.each(leaving, lambda life: _end(sender, life))
                    # What runs on is known; of what was evicted somebody else makes another one.
                    state.known = dict(state.placed)
                    await asyncio.sleep(EVERY_S)
                    await sender.each(
                        leaving, lambda life: _begin(sender, life, fleet.populating.owners, name)
                    )
                    await _until_bound(transport, plan, state, leaving)
                if step >= FILLING:
                    found.append(state.world.figures(state.placed, step))
                if name in WITH_EXTENDER:
                    # The next step comes when what was placed in this one is known: steps are minutes.
                    await asyncio.sleep(EVERY_S)
            beating.cancel()
        text = await asyncio.to_thread(metrics, port)
        await asyncio.to_thread(scheduler.stop)
    await fleet.clearing.all()
    total, count = (_value(text, ATTEMPTS.format(part, name)) for part in ("sum", "count"))
    return {
        **{key: round(fmean(one[key] for one in found), 3) for key in found[0]},
        "pods_scheduled": int(count),
        "pods_moved": moved,
        "ms_of_a_scheduling_attempt": round(1000 * total / max(count, 1), 2),
    }


@contextlib.asynccontextmanager
async def answering(state: Filled) -> AsyncIterator[int]:
    process = fake_process(clock=SystemClock())
    kept = KeptNodesSnapshot(state, process)
    app = web.Application()
    app.add_routes(SchedulerExtender(kept, process).routes())
    runner, port = web.AppRunner(app), free_port()
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port).start()
    try:
        async with asyncio.TaskGroup() as group:
            refreshing = group.create_task(kept.run())
            yield port
            refreshing.cancel()
    finally:
        await runner.cleanup()


async def _begin(
    sender: Sender,
    life: Life,
    owners: Mapping[int, str],
    scheduler: str,
    outlet: AdmissionOutlet | None = None,
) -> None:
    manifest = pods.pod(life, replica_set_uid=owners[life.workload.number])
    del manifest["spec"]["nodeName"]
    manifest["spec"] |= {"schedulerName": scheduler, "tolerations": [{"operator": "Exists"}]}
    if outlet is not None:
        manifest["spec"]["affinity"] = outlet.affinity(life, manifest)
    await sender.send(writes.create(PODS, life.workload.namespace, manifest))


async def _end(sender: Sender, life: Life) -> None:
    await sender.send(writes.finish(PODS, life.workload.namespace, life.name))


async def _until_bound(transport: Transport, plan: Plan, state: Filled, come: list[Life]) -> None:
    reader, missing = Reader(transport), {life.name: life for life in come}
    async with asyncio.timeout(BOUND_S):
        while missing:
            async for page in reader.pages(PODS, Selection(labels=f"{LABEL}={plan.name}")):
                for pod in page.items:
                    if pod.spec.node_name and pod.metadata.name in missing:
                        state.placed[missing.pop(pod.metadata.name)] = pod.spec.node_name
                        state.seen[pod.metadata.uid] = pod.spec.node_name
            await asyncio.sleep(0.1)


def metrics(port: int) -> str:
    unchecked = ssl.create_default_context()
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=30, context=unchecked)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()


def _value(text: str, series: str) -> float:
    rows = [row for row in text.splitlines() if row.startswith(f"{series} ")]
    return float(rows[0].rpartition(" ")[2]) if rows else 0.0
