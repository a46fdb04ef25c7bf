import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace

from nemutator_common import names
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.evictions.records import (
    EvictablePod,
    NotAllowedNowError,
    NotEvictedError,
    OwningWorkload,
    PodGoneError,
)
from nemutator_controller.evictions.restarting import APART_S, CHECK_S, RotationRestarts

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


def pod(uid: str, workload: str | None = "web", *, node: str = "n1") -> EvictablePod:
    owner = None if workload is None else OwningWorkload("shop", "Deployment", workload)
    return EvictablePod("shop", uid, uid, node, owner, is_ready=True)


class Cluster:
    """A `RestartablePods`, a `Rotations` and a `PodEvictions`, all at once."""

    def __init__(self, *pods: EvictablePod, per_minute: float = 60.0) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.pods = list(pods)
        self.records: set[tuple[str, str]] = set()
        self.evicted: list[str] = []
        self.notes: list[tuple[str, bool]] = []
        self.failure: Exception | None = None
        self.is_away = False
        process = fake_process(clock=self.clock, meter=self.meter)
        self.restarts = RotationRestarts(self, self, self, process, per_minute=per_minute)

    def now(self) -> Sequence[EvictablePod]:
        return tuple(self.pods)

    async def rotated(self, pod_uids: Collection[str]) -> Collection[tuple[str, str]]:
        if self.is_away:
            raise StoreUnavailableError("full")
        return {(node, uid) for node, uid in self.records if uid in pod_uids}

    async def evict(self, pod: EvictablePod) -> None:
        if self.failure is not None:
            raise self.failure
        self.evicted.append(pod.uid)
        self.pods.remove(pod)

    def notify(self, pod: EvictablePod, note: str, *, warning: bool = False) -> None:
        self.notes.append((pod.uid, warning))

    def rotate(self, *pods: EvictablePod) -> None:
        self.records |= {(pod.node, pod.uid) for pod in pods}

    def counted(self, result: str) -> float:
        return self.meter.value(names.ROTATION_RESTARTS, result=result)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with in_background(self.restarts.run(), self.clock):
            yield

    async def check(self, times: int = 1) -> None:
        for _ in range(times):
            await self.clock.advance(CHECK_S)
            await self.clock.until_sleeping(1)


async def test_a_pod_whose_secret_has_changed_is_evicted_once() -> None:
    changed, other = pod("a"), pod("b", "other")
    cluster = Cluster(changed, other)
    async with cluster.running():
        await cluster.check()
        assert cluster.evicted == []
        cluster.rotate(changed)
        await cluster.check(10)
    assert cluster.evicted == ["a"]
    assert cluster.notes == [("a", False)]
    assert cluster.counted("evicted") == 1


async def test_pods_of_one_workload_go_one_after_another() -> None:
    both = pod("a"), pod("b")
    cluster = Cluster(*both)
    cluster.rotate(*both)
    async with cluster.running():
        await cluster.check()
        assert cluster.evicted == ["a"]
        cluster.pods.append(replace(pod("new"), is_ready=False))
        await cluster.check(int(APART_S / CHECK_S) + 1)
        assert cluster.evicted == ["a"]
        cluster.pods[-1] = pod("new")
        await cluster.check()
    assert cluster.evicted == ["a", "b"]


async def test_a_node_cannot_have_another_nodes_pod_evicted() -> None:
    cluster = Cluster(pod("a", node="n1"))
    cluster.records = {("n2", "a")}
    async with cluster.running():
        await cluster.check(3)
    assert cluster.evicted == []


async def test_what_nobody_would_make_anew_goes_on_and_its_owner_is_told_once() -> None:
    alone = pod("a", None)
    cluster = Cluster(alone)
    cluster.rotate(alone)
    async with cluster.running():
        await cluster.check(5)
    assert (cluster.evicted, cluster.notes) == ([], [("a", True)])
    assert cluster.counted("unowned") == 1


async def test_a_disruption_budget_is_waited_for() -> None:
    changed = pod("a")
    cluster = Cluster(changed)
    cluster.rotate(changed)
    cluster.failure = NotAllowedNowError("none may go")
    async with cluster.running():
        await cluster.check(9)
        assert cluster.notes == [("a", True)]
        cluster.failure = None
        await cluster.check(int(APART_S / CHECK_S))
    assert cluster.evicted == ["a"]
    assert cluster.counted("not_allowed") == 1


async def test_failures_are_counted_and_tried_again() -> None:
    changed = pod("a")
    cluster = Cluster(changed)
    cluster.rotate(changed)
    cluster.is_away = True
    async with cluster.running():
        await cluster.check()
        cluster.is_away, cluster.failure = False, NotEvictedError("no answer")
        await cluster.check()
        assert cluster.counted("failed") == 1
        cluster.failure = None
        await cluster.check(int(APART_S / CHECK_S))
    assert cluster.evicted == ["a"]


async def test_a_pod_that_is_gone_is_no_eviction() -> None:
    changed = pod("a")
    cluster = Cluster(changed)
    cluster.rotate(changed)
    cluster.failure = PodGoneError()
    async with cluster.running():
        await cluster.check()
    assert (cluster.notes, cluster.counted("evicted")) == ([], 0)


async def test_all_workloads_together_lose_no_more_than_the_setting_allows() -> None:
    many = [pod(str(number), f"web-{number}") for number in range(20)]
    cluster = Cluster(*many, per_minute=6.0)
    cluster.rotate(*many)
    async with cluster.running():
        await cluster.check()
        at_once = len(cluster.evicted)
        await cluster.check(6)
    assert at_once == 6
    assert len(cluster.evicted) == 12


async def test_less_than_one_a_minute_is_still_one_at_last() -> None:
    changed = pod("a")
    cluster = Cluster(changed, per_minute=0.5)
    cluster.rotate(changed)
    async with cluster.running():
        await cluster.check(5)
        assert cluster.evicted == []
        await cluster.check(2)
    assert cluster.evicted == ["a"]
