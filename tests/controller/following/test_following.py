import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.following.following import (
    CHECK_S,
    DISPUTED,
    FOREIGN,
    LOOKED_AT,
    LiveMetadata,
)
from nemutator_controller.following.records import ObjectNotWrittenError
from nemutator_controller.following.reverted_writes import FIRST_WAIT_S, REVERTS
from nemutator_controller.mutations.stamps import parse_stamp

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.followed_pods import (
    CrowdOfPods,
    Json,
    MemoryFollowingJournal,
    MemoryLivePolicies,
    MemoryRules,
    live,
    running_pod,
    workload,
)
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


class Cluster:
    def __init__(
        self, *pods: Json, others: int = 0, per_minute: float = 6_000, **specs: Json
    ) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.pods, self.rules = CrowdOfPods(*pods, others=others), MemoryRules(**specs)
        self.journal = MemoryFollowingJournal()
        self.remembered = MemoryLivePolicies()
        self.ids = iter(range(1_000))
        self.per_minute = per_minute
        self.restart()

    def restart(self) -> None:
        self.pods.fall_behind()
        self.live = LiveMetadata(
            self.pods,
            self.rules,
            self.journal,
            self.remembered,
            process=fake_process(clock=self.clock, meter=self.meter),
            fresh=lambda: f"d{next(self.ids)}",
            per_minute=self.per_minute,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with in_background(self.live.run(), self.clock):
            yield

    async def check(self, times: int = 1) -> None:
        for _ in range(times):
            await self.clock.advance(CHECK_S)
            await self.clock.until_sleeping(1)

    def counted(self, result: str) -> float:
        return self.meter.value(names.FOLLOWED, result=result)


async def test_a_changed_policy_reaches_the_pods_that_run_and_each_write_is_journaled() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    async with one.running():
        await one.check()
        assert one.pods.metadata()["labels"] == {"team": "a"}
        one.rules.say(team=live(team="b"))
        await one.check(2)
    assert one.pods.metadata()["labels"] == {"team": "b"}
    assert [each.operation for each in one.journal.decisions] == ["LIVE", "LIVE"]
    stamp = parse_stamp(one.pods.metadata()["annotations"][names.MUTATION])
    assert stamp is not None
    assert (stamp.id, stamp.edits and stamp.edits[0].before) == ("d1", ())
    assert one.journal.decisions[-1].id == "d1"
    assert one.counted("written") == 2


async def test_a_changed_token_does_too() -> None:
    pod = running_pod(annotations={"color": "nemu_anno_value_color"})
    one = Cluster(pod, team=live(team="a"))
    one.rules.know(nemu_anno_value_color="blue")
    async with one.running():
        await one.check()
        assert one.pods.metadata()["annotations"]["color"] == "blue"
        one.rules.know(nemu_anno_value_color="red")
        await one.check(2)
    assert one.pods.metadata()["annotations"]["color"] == "red"


async def test_what_is_as_it_should_be_is_not_read_again() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    async with one.running():
        await one.check(3)
        reads = one.pods.reads
        await one.check(10)
        assert one.pods.reads == reads
        one.pods.put(running_pod(labels={"app": "web"}))
        await one.check(2)
    # A pod that came while admission was down looks like this one: nothing of ours is on it.
    assert one.pods.metadata()["labels"] == {"app": "web", "team": "a"}


def in_shop(**labels: str) -> Json:
    return live(**labels) | {"match": {"namespaces": ["shop"]}}


@pytest.mark.slow
async def test_of_150_000_pods_only_those_that_have_changed_are_looked_at() -> None:
    others = 150_000
    one = Cluster(running_pod(), others=others, team=in_shop(team="a"))
    async with one.running():
        # All of them once, a part in each check, and the one that was written then once more.
        await one.check()
        assert one.pods.looked_at == LOOKED_AT
        await one.check(others // LOOKED_AT + 1)
        assert one.pods.looked_at == others + 2
        await one.check(60)
        assert one.pods.looked_at == others + 2
        one.pods.put(running_pod(labels={"app": "web"}))
        await one.check(60)
        assert one.pods.metadata()["labels"] == {"app": "web", "team": "a"}
        assert one.pods.looked_at == others + 4
        one.rules.say(team=in_shop(team="b"))
        await one.check(60)
    assert one.pods.metadata()["labels"] == {"app": "web", "team": "b"}
    assert one.pods.looked_at == 2 * others + 6


async def test_rules_that_change_during_a_look_have_their_own_and_hold_up_no_pod() -> None:
    one = Cluster(running_pod(), others=LOOKED_AT * 2, team=in_shop(team="a"))
    async with one.running():
        for team in "abc":
            one.rules.say(team=in_shop(team=team))
            await one.check()
        # The first look has gone on to its end, where this pod is.
        assert one.pods.metadata()["labels"] == {"team": "c"}
        one.rules.say(team=in_shop(team="e"))
        await one.check(6)
    assert one.pods.metadata()["labels"] == {"team": "e"}


async def test_a_watch_that_was_too_slow_costs_one_look_at_all() -> None:
    one = Cluster(running_pod(), running_pod("web-2"), team=live(team="a"))
    async with one.running():
        await one.check(3)
        seen = one.pods.looked_at
        one.pods.put(running_pod())
        one.pods.fall_behind()
        await one.check()
        assert one.pods.metadata()["labels"] == {"team": "a"}
        await one.check(9)
    # Both of them, and the one that was written then.
    assert one.pods.looked_at == seen + 3


async def test_a_workload_follows_in_its_own_metadata_and_what_was_taken_back_stays_so() -> None:
    chosen = live(team="a") | {"match": {"podSelector": {"matchLabels": {"app": "web"}}}}
    before = workload()
    one = Cluster(before, team=chosen)
    async with one.running():
        await one.check(3)
        assert one.pods.metadata("web")["labels"] == {"team": "a"}
        assert one.pods.pods["u-web"][0]["spec"] == before["spec"]
        one.journal.stones = [
            Tombstone("shop", "Deployment", "web", "workload.metadata.labels[team]")
        ]
        one.rules.say(team=chosen | {"mutations": [{"labels": {"set": {"team": "b"}}}]})
        await one.check(3)
    assert one.pods.metadata("web")["labels"] == {"team": "a"}
    [decision] = one.journal.decisions
    assert (decision.subject.kind, decision.edits[0].path) == (
        "Deployment",
        "workload.metadata.labels[team]",
    )


async def test_a_race_is_planned_again() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    one.pods.races = 2
    async with one.running():
        await one.check()
    assert one.pods.metadata()["labels"] == {"team": "a"}
    assert (one.counted("conflict"), one.counted("written")) == (2, 1)


async def test_writes_have_a_budget() -> None:
    pods = [running_pod(f"web-{number}") for number in range(10)]
    one = Cluster(*pods, per_minute=60, team=live(team="a"))

    def written() -> int:
        return sum("labels" in one.pods.metadata(f"web-{number}") for number in range(10))

    async with one.running():
        await one.check()
        first = written()
        await one.check(3)
        assert (first, written()) == (2, 5)
        await one.check(6)
    assert written() == 10


async def test_nothing_is_written_that_is_not_in_the_journal_before() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    one.journal.is_away = True
    async with one.running():
        await one.check(3)
        assert "labels" not in one.pods.metadata()
        one.journal.is_away = False
        await one.check()
    assert one.pods.metadata()["labels"] == {"team": "a"}


async def test_what_somebody_else_has_changed_stays_and_is_told_once() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    async with one.running():
        await one.check(2)
        theirs = running_pod(
            labels={"team": "theirs"}, annotations=one.pods.metadata()["annotations"]
        )
        one.pods.put(theirs)
        await one.check(5)
    assert one.pods.metadata()["labels"] == {"team": "theirs"}
    assert one.pods.notes == [FOREIGN.format("metadata.labels[team]")]
    assert one.counted("foreign") == 1


async def test_what_somebody_keeps_reverting_is_left_alone_for_ever_longer_times() -> None:
    one = Cluster(running_pod(), running_pod("web-2", labels={"team": "a"}), team=live(team="a"))

    async def reverted(times: int) -> None:
        """By somebody for whom the pod's metadata is all theirs: our stamp goes with our value."""
        for _ in range(times):
            one.pods.put(running_pod())
            await one.check(2)

    path = "metadata.labels[team]"
    async with one.running():
        await one.check(2)
        await reverted(2 * REVERTS)
        assert (one.counted("written"), one.counted("disputed")) == (REVERTS, 1)
        assert one.pods.notes == [DISPUTED.format(path, FIRST_WAIT_S / 60)]
        *_, row = one.journal.decisions
        assert (row.mode, row.edits[0].path, row.warnings) == (
            "preview",
            path,
            (one.pods.notes[0],),
        )
        assert one.meter.value(names.FOLLOWING_DISPUTED) == 1
        await one.check(int(FIRST_WAIT_S / CHECK_S) + 2)
        assert one.pods.metadata()["labels"] == {"team": "a"}
        assert one.meter.value(names.FOLLOWING_DISPUTED) == 0
        await reverted(1)
        assert (one.counted("written"), one.counted("disputed")) == (REVERTS + 1, 2)
        await one.check(int(FIRST_WAIT_S / CHECK_S) + 2)
        assert "labels" not in one.pods.metadata()
        await one.check(int(FIRST_WAIT_S / CHECK_S) + 2)
        assert one.pods.metadata()["labels"] == {"team": "a"}
    # They have been told.
    assert len(one.pods.notes) == 1
    assert one.pods.metadata("web-2")["labels"] == {"team": "a"}


async def test_what_was_taken_back_stays_so() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    one.journal.stones = [Tombstone("shop", "", "", "metadata.labels[team]")]
    async with one.running():
        await one.check(3)
    assert "labels" not in one.pods.metadata()


async def test_one_pod_that_is_refused_holds_up_no_other() -> None:
    one = Cluster(running_pod(), running_pod("web-2"), team=live(team="a"))
    one.pods.failure = ObjectNotWrittenError("a webhook says no", again=False)
    async with one.running():
        await one.check(3)
        assert one.counted("refused") == 2
        one.pods.failure = ObjectNotWrittenError("no answer", again=True)
        one.rules.say(team=live(team="b"))
        await one.check(2)
        one.pods.failure = None
        await one.check(2)
    assert one.pods.metadata()["labels"] == {"team": "b"}
    assert one.pods.metadata("web-2")["labels"] == {"team": "b"}


async def test_without_a_live_policy_no_pod_is_read() -> None:
    one = Cluster(running_pod(), team=live(team="a") | {"applyTo": "pod"})
    async with one.running():
        await one.check(3)
    assert one.pods.reads == 0


async def test_out_of_its_times_a_policy_says_nothing() -> None:
    # The clock begins at 22:13:20.
    timed = live(team="a") | {"when": {"windows": [{"from": "22:00", "to": "22:14"}]}}
    one = Cluster(running_pod(), team=timed)
    async with one.running():
        await one.check(3)
        assert one.pods.metadata()["labels"] == {"team": "a"}
        await one.check(60)
    assert not one.pods.metadata().get("labels")


async def test_what_a_live_policy_has_written_goes_when_it_is_deleted() -> None:
    all_of_them = [f"web-{number}" for number in range(10)]
    one = Cluster(*map(running_pod, all_of_them), per_minute=60, team=live(team="a"))

    def written() -> int:
        return sum(bool(one.pods.metadata(name).get("labels")) for name in all_of_them)

    async with one.running():
        await one.check(9)
        assert written() == 10
        one.rules.say()
        # Within the budget of all writes.
        await one.check(3)
        assert written() == 7
        await one.check(7)
    assert written() == 0
    assert not any(one.pods.metadata(name).get("annotations") for name in all_of_them)
    last = one.journal.decisions[-1]
    assert (last.operation, [(edit.before, edit.after) for edit in last.edits]) == (
        "LIVE",
        [(("a",), ())],
    )


async def test_one_that_was_deleted_while_the_brain_was_away_goes_too() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    async with one.running():
        await one.check(2)
    one.rules.say()
    one.restart()
    async with one.running():
        await one.check(3)
    assert not one.pods.metadata().get("labels")


async def test_nothing_is_written_for_a_policy_that_is_not_remembered_before() -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    one.remembered.is_away = True
    async with one.running():
        await one.check(3)
        assert "labels" not in one.pods.metadata()
        one.remembered.is_away = False
        await one.check()
    assert one.pods.metadata()["labels"] == {"team": "a"}


@pytest.mark.parametrize("changed", [{"mode": "Preview"}, {"applyTo": "pod"}, {"mode": "Later"}])
async def test_what_it_has_written_stays_while_a_policy_is_there(changed: Json) -> None:
    one = Cluster(running_pod(), team=live(team="a"))
    async with one.running():
        await one.check(2)
    one.rules.say(team=live(team="b") | changed)
    one.restart()
    async with one.running():
        await one.check(3)
    assert one.pods.metadata()["labels"] == {"team": "a"}


async def test_a_brain_that_cannot_read_tokens_yet_takes_none_away() -> None:
    one = Cluster(running_pod(), team=live(team="nemu_label_value_team"))
    one.rules.know(nemu_label_value_team="a")
    async with one.running():
        await one.check(2)
    one.rules.know_no_tokens_yet()
    one.restart()
    async with one.running():
        await one.check(3)
        assert one.pods.metadata()["labels"] == {"team": "a"}
        one.rules.know(nemu_label_value_team="b")
        await one.check(3)
    assert one.pods.metadata()["labels"] == {"team": "b"}
