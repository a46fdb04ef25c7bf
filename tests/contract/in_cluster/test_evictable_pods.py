"""What the queue of evictions costs in a cluster of many pods: counted, not timed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from nemutator_common.process import Process
from nemutator_controller.app.eviction_adapters import PodsToEvict
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.evictions.evicting import CHECK_S, EvictionQueue
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.store import StoreSnapshot

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.evictions import MemoryEvictions, MemoryPods, eviction_request
from tests.fakes.pods import kube_object, owned, picture, pod
from tests.fakes.process import fake_process

CHECKS = 5
WEB = owned("Deployment", "web", "d1")


@dataclass(slots=True)
class CountedPods:
    """A `StoreSnapshot` of pods that counts those that somebody looks at."""

    held: StoreSnapshot[Pod]
    looked_at: int = field(default=0, init=False)

    @property
    def objects(self) -> Mapping[str, Pod]:
        self.looked_at += len(self.held)
        return self.held.objects

    def by(self, index: str, value: str) -> Iterable[Pod]:
        for found in self.held.by(index, value):
            self.looked_at += 1
            yield found


@dataclass(frozen=True, slots=True)
class StandingWatch:
    seen: ClusterSnapshot

    def snapshot(self) -> ClusterSnapshot:
        return self.seen


async def looked_at(others: int) -> int:
    """Pods that so many checks of a queue look at which holds one pod of a Deployment of three."""
    web = [
        pod(f"web-{each}", uid=f"w{each}", owners=owned("ReplicaSet", "r", "rs1"))
        for each in range(3)
    ]
    crowd = [
        pod(
            f"other-{each}",
            uid=f"o{each}",
            owners=owned("ReplicaSet", f"o-{each // 9}", f"o{each // 9}"),
        )
        for each in range(others)
    ]
    seen = picture(*web, *crowd, replica_sets=(kube_object("r", "rs1", WEB),))
    counted = CountedPods(seen.pods)
    watched: Any = ClusterSnapshot(
        cast("StoreSnapshot[Pod]", counted), seen.replica_sets, seen.jobs
    )
    pods = PodsToEvict(cast("ClusterWatch", StandingWatch(watched)))
    clock = ManualClock()
    process: Process = fake_process(clock=clock)
    # Nothing may go, so that the queue stays as it is.
    budgets = EvictionBudgets(per_minute=0, node_per_minute=0, workload_at_once=0)
    queue = EvictionQueue(pods, MemoryEvictions(), MemoryPods(), EvictionPace(budgets), process)
    found = pods.find("w0")
    assert found is not None
    await queue.add(eviction_request(at=clock.now()), [found])
    counted.looked_at = 0
    async with in_background(queue.run(), clock):
        for _ in range(CHECKS):
            await clock.advance(CHECK_S)
            await clock.until_sleeping(1)
    assert queue.uids == {"w0"}
    return counted.looked_at


async def test_an_open_queue_looks_at_the_pods_of_its_workloads_and_at_no_others() -> None:
    # In each check the pod itself, by its uid, and the three of its workload.
    assert await looked_at(9) == await looked_at(2_000) == CHECKS * 4
