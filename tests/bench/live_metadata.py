"""What it costs the brain to have 150 000 running pods follow policies: one look at all, and no change.

No API server and no peer: others that change the metadata of running pods (Kyverno's background controller) do
so over the API alone, one object at a time.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Collection

import msgspec
from nemutator_controller.app.followed_objects import followed
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.following.following import CHECK_S, LiveMetadata
from nemutator_controller.following.records import FollowedObject
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.store import Store
from nemutator_controller.kube.workload_objects import WatchedWorkload

from tests.bench.brain_scale_shape import PODS, WORKLOADS, pods, replica_sets
from tests.bench.frame import Result, aim
from tests.fakes.clocks import ManualClock
from tests.fakes.followed_pods import (
    MemoryFollowedObjects,
    MemoryFollowingJournal,
    MemoryLivePolicies,
    MemoryRules,
    live,
)
from tests.fakes.process import fake_process

POLICIES = 50
IDLE_CHECKS = 60


class ClusterOfPods(MemoryFollowedObjects):
    def __init__(self, snapshot: ClusterSnapshot) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.is_new = True

    def changed(self) -> Collection[FollowedObject] | None:
        is_new, self.is_new = self.is_new, False
        return None if is_new else ()

    async def everything(self) -> AsyncIterator[FollowedObject]:
        async for pod in followed(self.snapshot.pods.objects.values(), self.snapshot, {}):
            self.looked_at += 1
            yield pod


def bench() -> Result:
    return asyncio.run(_bench())


async def _bench() -> Result:
    seen = ClusterOfPods(_cluster())
    clock = ManualClock()
    elsewhere = {"match": {"namespaces": ["elsewhere"]}}
    # One is for all namespaces, and for pods that there are none of: it has to look at each of them.
    none = {"match": {"podSelector": {"matchLabels": {"no": "pod"}}}}
    specs = {f"p{number}": live(team="a") | elsewhere for number in range(1, POLICIES)}
    rules = MemoryRules(p0=live(team="a") | none, **specs)
    following = LiveMetadata(
        seen,
        rules,
        MemoryFollowingJournal(),
        MemoryLivePolicies(),
        fake_process(clock=clock),
        str,
        per_minute=60,
    )
    checks: list[float] = []
    async with asyncio.timeout(600), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(following.run())
        await clock.until_sleeping(1)
        while seen.looked_at < PODS and len(checks) < PODS:
            checks.append(await _check(clock))
        idle = [await _check(clock) for _ in range(IDLE_CHECKS)]
        running.cancel()
    return Result(
        measured={
            "pods": PODS,
            "policies": POLICIES,
            "cpu_s_of_all_once": round(sum(checks), 3),
            "checks_of_all_once": len(checks),
            "longest_check_ms": round(max(checks) * 1e3, 1),
            "looked_at_without_a_change": seen.looked_at - PODS,
            "idle_check_us": round(statistics.median(idle) * 1e6, 1),
        },
        aims=(
            aim("share of a core without a change", statistics.median(idle) / CHECK_S, "<=", 0.01),
            aim("share of a core during a look", max(checks) / CHECK_S, "<=", 0.2),
        ),
    )


async def _check(clock: ManualClock) -> float:
    began = time.process_time()
    await clock.advance(CHECK_S)
    await clock.until_sleeping(1)
    return time.process_time() - began


def _cluster() -> ClusterSnapshot:
    seen: Store[Pod] = Store({})
    for text in pods(0, PODS):
        seen.put(msgspec.json.decode(text, type=Pod))
    owners: Store[Object] = Store({})
    for text in replica_sets(0, WORKLOADS):
        owners.put(msgspec.json.decode(text, type=Object))
    jobs: Store[WatchedWorkload] = Store({})
    return ClusterSnapshot(seen.snapshot(), owners.snapshot(), jobs.snapshot())
