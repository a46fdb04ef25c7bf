import asyncio
import gc
import weakref
from collections.abc import Callable

import pytest
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.model import ClusterFigures
from nemutator_controller.inventory.taking import (
    EACH_S,
    FEW_MACHINES,
    FRESH_S,
    SPARED,
    CountedCluster,
    CountedMachine,
    NotListedYetError,
)

from tests.fakes.batches import batch
from tests.fakes.inventory import FixedCluster, FixedLevels, FixedRequests, FixedUse, counted_pod
from tests.fakes.pods import picture
from tests.fakes.scripted_kube import EagerClock


class Threads:
    """Counts what runs in them; each job takes *seconds*."""

    def __init__(self, clock: EagerClock, seconds: float = 0.0) -> None:
        self.jobs = 0
        self._clock = clock
        self._seconds = seconds

    async def __call__(self, job: Callable[[], ClusterFigures]) -> ClusterFigures:
        self.jobs += 1
        await self._clock.sleep(self._seconds)
        return job()


async def test_who_asks_at_once_gets_the_same_figures() -> None:
    clock = EagerClock()
    threads = Threads(clock)
    cluster = FixedCluster(picture(counted_pod("web-1")))
    counted = CountedCluster(cluster, FixedUse(), FixedLevels(), threads, clock)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(counted.now()) for _ in range(5)]
    several = [each.result() for each in tasks]
    assert (threads.jobs, several[0].total.pods) == (1, 1)
    assert all(each is several[0] for each in several)
    await clock.sleep(FRESH_S)
    assert await counted.now() is not several[0]


async def test_what_takes_long_is_done_seldom() -> None:
    clock = EagerClock()
    threads = Threads(clock, seconds=1.0)
    counted = CountedCluster(FixedCluster(picture()), FixedUse(), FixedLevels(), threads, clock)
    first = await counted.now()
    await clock.sleep(SPARED - 0.5)
    assert await counted.now() is first
    await clock.sleep(1.0)
    assert await counted.now() is not first


class Watched(ClusterFigures):
    """May be referred to weakly."""


async def test_old_figures_are_let_go_before_there_are_new_ones() -> None:
    clock = EagerClock()
    known: list[weakref.ref[ClusterFigures]] = []
    there: list[int] = []

    async def in_thread(job: Callable[[], ClusterFigures]) -> ClusterFigures:
        gc.collect()
        there.append(sum(each() is not None for each in known))
        found = Watched(taken_at=job().taken_at)
        known.append(weakref.ref(found))
        return found

    counted = CountedCluster(FixedCluster(picture()), FixedUse(), FixedLevels(), in_thread, clock)
    for _ in range(2):
        assert (await counted.now()).taken_at == clock.now()
        assert len(there) == len(known)
        await clock.sleep(FRESH_S)
    assert there == [0, 0]


async def test_before_the_pods_are_listed_there_are_no_figures() -> None:
    clock = EagerClock()
    counted = CountedCluster(FixedCluster(), FixedUse(), FixedLevels(), Threads(clock), clock)
    with pytest.raises(NotListedYetError):
        await counted.now()


async def test_a_machine_is_counted_from_its_last_report() -> None:
    clock, nodes = EagerClock(), Nodes(most=2)
    nodes.see("n1", "e1", batch().envelopes[0], now=clock.now())
    counted = CountedMachine(nodes, FixedLevels(), FixedRequests(), Threads(clock), clock)
    found = await counted.now()
    assert found.workloads
    assert not found.nodes


def many_machines(clock: EagerClock) -> Nodes:
    many = FEW_MACHINES + 1
    nodes = Nodes(most=many)
    for number in range(many):
        nodes.see(f"n{number}", "e1", batch().envelopes[0], now=clock.now())
    return nodes


async def test_many_machines_are_counted_once_for_all_who_ask_meanwhile() -> None:
    clock = EagerClock()
    threads, nodes = Threads(clock), many_machines(clock)
    counted = CountedMachine(nodes, FixedLevels(), FixedRequests(), threads, clock)
    first = await counted.now()
    await clock.sleep(EACH_S * FEW_MACHINES)
    assert await counted.now() is first
    await clock.sleep(EACH_S)
    assert await counted.now() is not first
    assert threads.jobs == 2


async def test_what_is_requested_for_them_counts_at_once() -> None:
    clock = EagerClock()
    requests = FixedRequests()
    counted = CountedMachine(many_machines(clock), FixedLevels(), requests, Threads(clock), clock)
    first = await counted.now()
    [key, *_] = first.workloads
    requests.known = {(*key, "-"): CpuMemory(1000, 1 << 20)}
    found = await counted.now()
    assert found is not first
    assert found.workloads[key].tally.requests == CpuMemory(1000, 1 << 20)
