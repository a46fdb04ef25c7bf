import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_controller.evictions.evicting import (
    BY_THEN,
    CHECK_S,
    FIRST_WAIT_S,
    MOST_OPEN,
    EvictionQueue,
    TooManyEvictionsError,
)
from nemutator_controller.evictions.pace import (
    OF_NODE,
    OF_WORKLOAD,
    PERIOD_S,
    EvictionBudgets,
    EvictionPace,
)
from nemutator_controller.evictions.records import (
    EvictablePod,
    EvictionRefusedError,
    NotAllowedNowError,
    NotEvictedError,
    PodGoneError,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.evictions import MemoryEvictions, MemoryPods, evictable, eviction_request
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

BUDGETS = EvictionBudgets(per_minute=100, node_per_minute=100, workload_at_once=1)


class Life:
    """One life of the brain, over a store that outlives it."""

    def __init__(
        self, pods: MemoryPods, store: MemoryEvictions, clock: ManualClock, *, node: int = 100
    ) -> None:
        self.clock, self.meter, self.pods, self.store = clock, MemoryMeter(), pods, store
        pace = EvictionPace(replace(BUDGETS, node_per_minute=node))
        process = fake_process(clock=clock, meter=self.meter)
        self.queue = EvictionQueue(pods, store, pods, pace, process)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.queue.restore()
        async with in_background(self.queue.run(), self.clock):
            yield

    async def ask(self, *pods: EvictablePod, id_: str = "r1", within_s: float = 3600) -> None:
        request = eviction_request(id_, at=self.clock.now(), within_s=within_s)
        await self.queue.add(request, pods)

    async def check(self, seconds: float = CHECK_S) -> None:
        for _ in range(int(seconds / CHECK_S)):
            await self.clock.advance(CHECK_S)
            await self.clock.until_sleeping(1)

    def state(self, name: str, request: str = "r1") -> tuple[str, str]:
        row = self.store.rows[request, f"u-{name}"]
        return row.state, row.why


def life(*pods: EvictablePod, node: int = 100) -> Life:
    return Life(MemoryPods(*pods), MemoryEvictions(), ManualClock(), node=node)


async def test_pods_go_one_after_another_as_their_workload_recovers() -> None:
    a, b = evictable("a"), evictable("b")
    one = life(a, b)
    async with one.running():
        await one.ask(a, b)
        await one.check(5)
        assert one.pods.evicted == ["a"]
        assert one.state("a") == ("evicted", "")
        assert one.state("b") == ("queued", OF_WORKLOAD)
        assert one.pods.pods is not None
        one.pods.pods.append(evictable("new"))
        await one.check()
    assert one.pods.evicted == ["a", "b"]
    assert one.pods.notes[0] == "a: evicted for anna: new kernel"
    assert one.meter.value(names.EVICTIONS, result="evicted") == 2


async def test_what_is_not_ready_goes_first() -> None:
    a, b = evictable("a"), evictable("b", ready=False)
    one = life(a, b)
    async with one.running():
        await one.ask(a, b)
        await one.check(3)
    assert one.pods.evicted[0] == "b"


async def test_a_disruption_budget_is_waited_for_ever_more_slowly() -> None:
    a = evictable("a")
    one = life(a)
    one.pods.failures["a"] = NotAllowedNowError("the budget web needs 1")
    async with one.running():
        await one.ask(a)
        await one.check()
        assert one.state("a") == ("waits", "the budget web needs 1")
        await one.check(FIRST_WAIT_S + 1)
        del one.pods.failures["a"]
        await one.check(FIRST_WAIT_S)
        assert one.pods.evicted == []
        await one.check(FIRST_WAIT_S)
    assert one.pods.evicted == ["a"]


async def test_a_server_that_does_not_answer_is_asked_again_and_a_refusal_is_final() -> None:
    a, b = evictable("a"), evictable("b", "cart")
    one = life(a, b)
    one.pods.failures = {"a": NotEvictedError("no answer"), "b": EvictionRefusedError("403")}
    async with one.running():
        await one.ask(a, b)
        await one.check()
        assert one.state("a") == ("queued", "no answer")
        assert one.state("b") == ("failed", "403")
        one.pods.failures = {}
        await one.check(FIRST_WAIT_S)
    assert one.pods.evicted == ["a"]
    assert one.meter.value(names.EVICTIONS, result="failed") == 1


async def test_what_has_ended_without_us_is_gone_and_what_comes_too_late_stays() -> None:
    a, b, c = evictable("a"), evictable("b", "cart"), evictable("c", "log")
    one = life(b, c)
    one.pods.failures = {"b": NotAllowedNowError("none"), "c": PodGoneError()}
    async with one.running():
        await one.ask(a, b, c, within_s=60)
        await one.check()
        assert (one.state("a"), one.state("c")) == (("gone", ""), ("gone", ""))
        await one.check(60)
    # What it has waited for is still to be read.
    assert one.state("b") == ("expired", f"{BY_THEN}: none")
    assert one.pods.evicted == []


async def test_a_node_loses_no_more_than_its_budget() -> None:
    several = [evictable(name, name, node="n1") for name in "abc"]
    other = evictable("d", "d", node="n2")
    one = life(*several, other, node=2)
    async with one.running():
        await one.ask(*several, other)
        await one.check(10)
        assert one.pods.evicted == ["a", "b", "d"]
        assert one.state("c") == ("queued", OF_NODE)
        await one.check(PERIOD_S)
    assert one.pods.evicted == ["a", "b", "d", "c"]


async def test_a_cancelled_request_leaves_what_is_there() -> None:
    a, b = evictable("a"), evictable("b")
    one = life(a, b)
    async with one.running():
        await one.ask(a, b)
        await one.check()
        assert await one.queue.cancel("r1")
        assert not await one.queue.cancel("r1")
        await one.check(5)
    assert one.pods.evicted == ["a"]
    assert one.state("b")[0] == "cancelled"
    assert one.queue.uids == set()


async def test_what_is_cancelled_while_another_is_evicted_stays() -> None:
    a, b = evictable("a"), evictable("b", "cart")
    one = life(a, b)

    class Cancelling(MemoryPods):
        async def evict(self, pod: EvictablePod) -> None:
            assert await one.queue.cancel("r1")
            await super().evict(pod)

    one.queue.evictions = one.queue.pods = pods = Cancelling(a, b)
    async with one.running():
        await one.ask(a, b)
        await one.check(3)
    # The API server was being asked about the first one already.
    assert pods.evicted == ["a"]
    assert (one.state("a")[0], one.state("b")[0]) == ("evicted", "cancelled")


async def test_another_life_goes_on_where_the_one_before_it_was_killed() -> None:
    a, b, c = evictable("a"), evictable("b"), evictable("c", "cart")
    first = life(a, b, c)
    await first.ask(a, b, c)
    rows = first.store.rows
    # Killed between its question to the API server and the answer: of one it had come, of one not.
    for pod in (a, c):
        rows["r1", pod.uid] = rows["r1", pod.uid].then("evicting", at=first.clock.now())
    assert first.pods.pods is not None
    first.pods.pods.remove(a)
    second = Life(first.pods, first.store, first.clock)
    async with second.running():
        assert second.queue.uids == {"u-a", "u-b", "u-c"}
        await second.check()
        assert second.state("a")[0] == "evicted"
        assert second.pods.evicted == ["b", "c"]


async def test_a_workload_that_an_earlier_life_took_a_pod_of_settles_first() -> None:
    a, b = evictable("a"), evictable("b")
    first = life(a, b)
    async with first.running():
        await first.ask(a, b)
        await first.check()
    second = Life(first.pods, first.store, first.clock)
    async with second.running():
        await second.check(10)
        assert first.pods.evicted == ["a"]
        await second.check(PERIOD_S)
    assert first.pods.evicted == ["a", "b"]


async def test_nothing_is_done_that_cannot_be_written_down_before() -> None:
    a = evictable("a")
    one = life(a)
    async with one.running():
        await one.ask(a)
        one.store.is_away = True
        await one.check(5)
        assert one.pods.evicted == []
        one.store.is_away = False
        one.pods.pods, kept = None, one.pods.pods
        await one.check(5)
        assert one.state("a")[0] == "queued"
        one.pods.pods = kept
        await one.check()
    assert one.pods.evicted == ["a"]


async def test_the_queue_has_an_end() -> None:
    one = life()
    several = [evictable(str(number)) for number in range(MOST_OPEN + 1)]
    with pytest.raises(TooManyEvictionsError):
        await one.ask(*several)
    assert one.store.asked == {}


async def test_who_takes_over_goes_on_from_what_is_stored_and_not_from_what_it_remembers() -> None:
    a, b = evictable("a"), evictable("b", "db")
    former = life(a, b)
    await former.ask(a, b)
    # Another one has led meanwhile.
    row = former.store.rows["r1", "u-a"]
    await former.store.save([row.then("cancelled", at=1, why="")])
    await former.queue.resume()
    async with former.running():
        await former.check(5)
    assert former.pods.evicted == ["b"]
    assert former.state("a")[0] == "cancelled"
