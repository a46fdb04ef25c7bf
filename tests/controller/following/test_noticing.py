import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.following.missed import SETTLED_S, MissedPod
from nemutator_controller.following.noticing import AGAIN_S, CHECK_S, READ_AT_ONCE, MissedPods
from nemutator_controller.following.records import ObjectNotWrittenError

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.followed_pods import (
    Json,
    MemoryFollowedObjects,
    MemoryFollowingJournal,
    MemoryMissedEvictions,
    MemoryRules,
    running_pod,
)
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

NOW = 1_700_000_000.0
TEAM: Json = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]}


def made(name: str = "web-1", *, at: float = NOW + 60, labels: Json | None = None) -> Json:
    pod = running_pod(name, labels=labels or {})
    pod["metadata"]["creationTimestamp"] = datetime.fromtimestamp(at, UTC).isoformat()
    return pod


class Cluster:
    def __init__(self, *pods: Json, **specs: Json) -> None:
        self.clock, self.meter = ManualClock(NOW), MemoryMeter()
        self.pods, self.rules = MemoryFollowedObjects(*pods), MemoryRules(**specs)
        self.journal, self.listed = MemoryFollowingJournal(), dict[str, MissedPod]()
        process = fake_process(clock=self.clock, meter=self.meter)
        self.evictions = MemoryMissedEvictions()
        self.missed = MissedPods(
            self.pods, self.rules, self.journal, self.evictions, self.listed, process
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with in_background(self.missed.run(), self.clock):
            yield

    async def check(self, times: int = 1) -> None:
        for _ in range(times):
            await self.clock.advance(CHECK_S)
            await self.clock.until_sleeping(1)


async def test_a_pod_that_was_missed_is_told_of_once_and_listed_as_long_as_it_runs() -> None:
    one = Cluster(team=TEAM)
    async with one.running():
        await one.check()
        one.pods.put(made())
        await one.check(3)
        assert one.pods.notes == [
            "admission has not seen this pod: it runs without the policies team"
        ]
        [listed] = one.listed.values()
        assert (str(listed.pod), listed.result, listed.noticed_at > NOW) == (
            "shop/web-1",
            "told",
            True,
        )
        # Kubelet writes its status.
        one.pods.put(made())
        await one.check(3)
        assert len(one.pods.notes) == one.pods.reads == 1
        assert one.meter.value(names.MISSED, result="told") == 1
        assert one.meter.value(names.MISSED_PODS) == 1
        one.pods.pods.clear()
        await one.check()
    assert not one.listed
    assert one.meter.value(names.MISSED_PODS) == 0


async def test_pods_that_were_there_before_the_brain_are_found_too() -> None:
    one = Cluster(made("late"), made("early", at=NOW - 60), team=TEAM)
    one.rules.written["team"] = NOW
    async with one.running():
        await one.check(3)
    assert [str(each.pod) for each in one.listed.values()] == ["shop/late"]


async def test_a_pod_that_is_older_than_a_policy_was_not_missed() -> None:
    one = Cluster(made(), team=TEAM)
    async with one.running():
        await one.check()
        # It was written when the brain has seen it, but for what every replica needs to hear of it.
        one.pods.put(made("soon", at=NOW + SETTLED_S / 2))
        await one.check(3)
        assert [str(each.pod) for each in one.listed.values()] == ["shop/web-1"]
        await one.check(120)
        one.rules.say(team=TEAM | {"mutations": [{"labels": {"set": {"team": "b"}}}]})
        one.pods.put(made("web-2"))
        await one.check(3)
    assert [str(each.pod) for each in one.listed.values()] == ["shop/web-1"]


async def test_required_injection_is_missed_without_any_policy() -> None:
    one = Cluster(made(labels={str(names.INJECT): "required"}))
    async with one.running():
        await one.check()
    assert [each.is_required for each in one.listed.values()] == [True]


async def test_what_was_taken_back_was_not_missed() -> None:
    one = Cluster(made(), team=TEAM)
    one.journal.stones = [Tombstone("shop", "", "", "metadata.labels[team]")]
    async with one.running():
        await one.check(3)
    assert not one.listed


async def test_reads_are_few_at_a_time_and_go_on_when_the_server_answers_again() -> None:
    pods = [made(f"web-{number}") for number in range(READ_AT_ONCE + 1)]
    one = Cluster(*pods, team=TEAM)
    one.pods.unread = ObjectNotWrittenError("no answer", again=True)
    async with one.running():
        await one.check(3)
        assert not one.listed
        one.pods.unread = None
        await one.check()
        assert len(one.listed) == READ_AT_ONCE
        await one.check()
    assert len(one.listed) == READ_AT_ONCE + 1


async def test_a_pod_that_cannot_be_read_keeps_no_other_from_its_turn() -> None:
    one = Cluster(made("web-1"), made("web-2"), team=TEAM)
    one.pods.unreadable = "web-1"
    async with one.running():
        await one.check(3)
        assert [str(each.pod) for each in one.listed.values()] == ["shop/web-2"]
        one.pods.unreadable = ""
        await one.check()
    assert len(one.listed) == 2


async def test_a_policy_may_want_what_was_missed_evicted_and_its_next_pod_not_too() -> None:
    one = Cluster(team=TEAM | {"missed": "Evict"})
    async with one.running():
        await one.check(70)
        one.pods.put(made("web-1"))
        one.pods.put(made("web-2"))
        await one.check(3)
        assert one.evictions.asked == ["shop/web-1", "shop/web-2"]
        assert one.meter.value(names.MISSED, result="evicted") == 2
        assert {each.result for each in one.listed.values()} == {"evicted"}
        # Admission is down still.
        one.pods.put(made("web-3", at=one.clock.now()))
        await one.check(3)
        assert one.evictions.asked == ["shop/web-1", "shop/web-2"]
        assert one.meter.value(names.MISSED, result="told") == 1
        assert [each.result for each in one.listed.values()][2:] == ["told"]
        await one.clock.advance(AGAIN_S)
        one.pods.put(made("web-4", at=one.clock.now() - 1))
        await one.check(3)
        assert one.evictions.asked[2:] == ["shop/web-4"]
        one.evictions.takes = False
        one.pods.put(made("web-5", at=NOW + 61))
        await one.check(3)
    assert one.meter.value(names.MISSED, result="told") == 2
    assert len(one.pods.notes) == 5
