"""Which pods of a cluster the brain evicts, and how, over a fake API server."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.evictions import QueuedMissedPods
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace
from nemutator_controller.evictions.records import (
    EvictablePod,
    NotAllowedNowError,
    PodGoneError,
)
from nemutator_controller.following.records import FollowedObject
from nemutator_controller.mutations.decisions import pod_subject

from tests.contract.in_cluster.watched_cluster import outdated, watched
from tests.fakes.evictions import MemoryEvictions
from tests.fakes.kube import kinds
from tests.fakes.process import fake_process


def followed(uid: str) -> FollowedObject:
    return FollowedObject(
        subject=pod_subject("shop", "cart-1", uid), version="1", stamp="", labels={}
    )


async def restartable(cluster: Cluster, *names: str) -> list[EvictablePod]:
    """Once those with these names are seen, and no others."""
    while True:
        found = sorted(cluster.restartable.now(), key=lambda one: one.name)
        if [one.name for one in found] == list(names):
            return found
        await asyncio.sleep(0.05)


async def test_pods_to_restart_run_and_have_somebody_who_makes_another(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        kube.store.put(kinds.PODS, outdated("cart-2", "c2", conditions=[]))
        kube.store.put(kinds.PODS, outdated("done", "c3", phase="Succeeded"))
        kube.store.put(kinds.PODS, outdated("job", "c4", owner="Job"))
        kube.store.put(kinds.PODS, outdated("single", "c5", owner=""))
        first, unready, of_job, alone = await restartable(
            cluster, "cart-1", "cart-2", "job", "single"
        )
        assert (first.uid, first.node, first.is_ready) == ("c1", "n1", True)
        assert first.workload is not None
        assert first.workload == unready.workload
        assert not unready.is_ready
        assert of_job.workload is None
        assert alone.workload is None


async def test_an_eviction_is_of_that_very_pod_and_within_its_budget(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        (seen,) = await restartable(cluster, "cart-1")
        with pytest.raises(PodGoneError):
            await cluster.evictions.evict(dataclasses.replace(seen, uid="earlier"))
        budget = {
            "metadata": {"name": "cart", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": "cart"}}},
            "status": {"disruptionsAllowed": 0, "observedGeneration": 1},
        }
        kube.store.put(kinds.DISRUPTION_BUDGETS, budget)
        with pytest.raises(NotAllowedNowError):
            await cluster.evictions.evict(seen)
        kube.store.remove(kinds.DISRUPTION_BUDGETS, "shop", "cart")
        await cluster.evictions.evict(seen)
        assert await restartable(cluster) == []


async def test_a_missed_pod_is_put_into_the_queue_of_evictions_once(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        kube.store.put(kinds.PODS, outdated("single", "c5", owner=""))
        await restartable(cluster, "cart-1", "single")
        budgets = EvictionBudgets(per_minute=9, node_per_minute=9, workload_at_once=1)
        process, store = fake_process(), MemoryEvictions()
        queue = EvictionQueue(
            cluster.evictable, store, cluster.evictions, EvictionPace(budgets), process
        )
        missed = QueuedMissedPods(queue, cluster.evictable, process)
        asked = [await missed.ask(followed(uid), "it has no secrets") for uid in ("c1", "c5", "c9")]
        assert asked == [True, False, False]
        assert not await missed.ask(followed("c1"), "again")
        assert queue.uids == {"c1"}
        [request] = store.asked.values()
        assert (request.by, request.reason) == ("nemutator", "it has no secrets")
