from dataclasses import replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.rolling.records import (
    RolledWorkload,
    WorkloadRefusedError,
    WorkloadUnreachableError,
)
from nemutator_controller.rolling.rolling import (
    GONE,
    HELD,
    KEPT_SLOW,
    MEND,
    MOST_OPEN,
    NOT_YET,
    OTHERS,
    PAUSED,
    PEAK,
    RESUME,
    UNTOLD,
    RolledAlreadyError,
    TooManyRollsError,
)
from nemutator_controller.rolling.strategies import SLOW

from tests.controller.rolling.lives import Life
from tests.fakes.rolls import USUAL, WEB, MemoryWorkloads, roll


async def test_a_workload_is_rolled_slowly_and_has_its_strategy_back() -> None:
    one = Life()
    async with one.running(roll()):
        await one.check()
        assert one.state == ("rolling", "")
        assert one.strategy == SLOW["Deployment"]
        assert one.workloads.spec["template"]["metadata"]["annotations"] == {names.ROLLED: "r1"}
        one.workloads.controller(updated=1, available=1)
        await one.check()
        one.workloads.controller(updated=2, available=2)
        await one.check()
    assert one.state == ("done", "")
    assert one.strategy == USUAL
    assert one.workloads.notes == [("rolled slowly for anna: new node", False)]
    assert one.meter.value(names.ROLLS, result="done") == 1


async def test_it_stops_at_the_first_pod_that_is_not_ready_in_time() -> None:
    one = Life()
    async with one.running(roll(deadline_s=20)):
        await one.check()
        one.workloads.controller(updated=1, available=1)
        await one.check(18)
        assert one.state[0] == "rolling"
        # A pod that comes up gives the next one all of the time.
        one.workloads.controller(updated=1, available=2)
        await one.check(18)
        assert one.state[0] == "rolling"
        one.workloads.controller(updated=2, available=1)
        await one.check(20)
    assert one.state == ("stopped", f"a pod was not ready within 20 s; {RESUME}")
    assert one.workloads.spec["paused"] is True
    assert one.strategy == USUAL
    assert one.workloads.notes[-1][1]
    assert one.meter.value(names.ROLLS, result="stopped") == 1


LOGS = RolledWorkload(namespace="shop", kind="DaemonSet", name="logs", uid="u1")
EAGER = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}


async def test_a_daemon_set_is_rolled_from_node_to_node() -> None:
    one = Life()
    one.workloads.become_a_daemon_set(EAGER)
    async with one.running(roll(workload=LOGS)):
        await one.check()
        assert one.workloads.spec["updateStrategy"] == SLOW["DaemonSet"]
        one.workloads.nodes(updated=1, available=2)
        await one.check()
        assert one.state == ("rolling", "")
        one.workloads.nodes(updated=2, available=2)
        await one.check()
    assert one.state == ("done", "")
    assert one.workloads.spec["updateStrategy"] == EAGER


@pytest.mark.parametrize(
    ("strategy", "after", "said"),
    [
        # Its own would take away the pods of all other nodes, too.
        (EAGER, SLOW["DaemonSet"], f"{KEPT_SLOW}; {MEND}"),
        ({"type": "RollingUpdate"}, {"type": "RollingUpdate"}, MEND),
    ],
)
async def test_what_cannot_be_paused_stays_slow_where_a_pod_does_not_become_ready(
    strategy: Any, after: Any, said: str
) -> None:
    one = Life()
    one.workloads.become_a_daemon_set(strategy)
    async with one.running(roll(workload=LOGS, deadline_s=20)):
        await one.check()
        one.workloads.nodes(updated=1, available=1)
        await one.check(24)
    assert one.state == ("stopped", f"a pod was not ready within 20 s; {said}"[:300])
    assert one.workloads.spec["updateStrategy"] == after
    assert "paused" not in one.workloads.spec


async def test_a_workload_that_is_scaled_meanwhile_is_rolled_on() -> None:
    one = Life(MemoryWorkloads(replicas=6))
    async with one.running(roll(deadline_s=20)):
        await one.check()
        one.workloads.controller(updated=3, available=6)
        await one.check(18)
        # An autoscaler takes pods away: the counts fall, and no pod has failed.
        one.workloads.scale(3)
        await one.check()
        one.workloads.controller(updated=1, available=3)
        await one.check(18)
        one.workloads.controller(updated=2, available=3)
        await one.check(18)
        # And gives some back, of which each has its time.
        one.workloads.scale(5)
        one.workloads.controller(updated=2, available=3)
        await one.check(18)
        one.workloads.controller(updated=4, available=4)
        await one.check(18)
        assert one.state == ("rolling", "")
        # Only what comes up counts: this one comes and goes.
        one.workloads.controller(updated=4, available=3)
        await one.check(4)
        one.workloads.controller(updated=4, available=4)
        await one.check(2)
    assert one.state == ("stopped", f"a pod was not ready within 20 s; {RESUME}")


async def test_another_life_goes_on_whenever_the_one_before_it_was_killed() -> None:
    # Killed after the strategy was remembered, before it was written.
    first = Life()
    await first.store.save(roll(strategy=(USUAL,)))
    second = Life(first.workloads, first.store, first.clock)
    async with second.running():
        await second.check()
        assert second.strategy == SLOW["Deployment"]
    # Killed after it was written, before that was noted.
    await first.store.save(roll(strategy=(USUAL,)))
    third = Life(first.workloads, first.store, first.clock)
    async with third.running():
        await third.check()
        assert third.store.kept["r1"].strategy == (USUAL,)
        third.workloads.controller(updated=2, available=2)
        await third.check()
    assert third.state == ("done", "")
    assert third.strategy == USUAL


async def test_two_rolls_of_one_workload_are_refused() -> None:
    one = Life()
    async with one.running(roll()):
        with pytest.raises(RolledAlreadyError):
            await one.rolls.add(roll("r2"))
        await one.rolls.add(roll("r3", workload=replace(WEB, name="cart")))
    assert set(one.store.kept) == {"r1", "r3"}


async def test_rolls_have_a_bound() -> None:
    one = Life()
    for number in range(MOST_OPEN):
        await one.rolls.add(roll(str(number), workload=replace(WEB, name=f"w{number}")))
    with pytest.raises(TooManyRollsError):
        await one.rolls.add(roll("more", workload=replace(WEB, name="more")))


async def test_it_waits_for_its_window_and_is_held_when_that_is_over() -> None:
    one = Life()
    async with one.running(roll(window="01:00-01:01", deadline_s=600)):
        await one.check(10)
        assert one.state == ("waiting", NOT_YET)
        assert one.strategy == USUAL
        await one.clock.advance(3590)
        await one.check()
        assert one.state == ("rolling", "")
        one.workloads.controller(updated=1, available=1)
        await one.check(60)
        assert one.state == ("held", HELD)
        assert one.workloads.spec["paused"] is True
        one.clock.jump(86_400 - 62)
        await one.check(4)
        assert one.state == ("rolling", "")
        assert "paused" not in one.workloads.spec
        one.workloads.controller(updated=2, available=2)
        await one.check()
    assert one.state == ("done", "")


async def test_it_goes_on_while_it_is_off_peak_and_says_why_it_waits() -> None:
    one = Life()
    async with one.running(roll(off_peak=True, window="00:00-12:00")):
        for now, why in ((None, UNTOLD), (False, PEAK), (None, UNTOLD)):
            one.off_peaks.now = now
            await one.check()
            assert one.state == ("waiting", why)
            assert one.strategy == USUAL
        one.off_peaks.now = True
        await one.check()
        assert one.state == ("rolling", "")
        one.workloads.controller(updated=1, available=1)
        one.off_peaks.now = False
        await one.check()
        assert one.state == ("held", PEAK)
        assert one.workloads.spec["paused"] is True
        # After a restart of the brain nobody can tell at first.
        one.off_peaks.now = None
        await one.check()
        assert one.state == ("held", PEAK)
        one.off_peaks.now = True
        await one.check()
        one.workloads.controller(updated=2, available=2)
        await one.check()
    assert one.state == ("done", "")
    assert "paused" not in one.workloads.spec


async def test_a_new_version_in_the_middle_of_a_roll_has_the_time_of_one_that_begins() -> None:
    one = Life(MemoryWorkloads(replicas=6))
    async with one.running(roll(deadline_s=20)):
        await one.check()
        one.workloads.controller(updated=5, available=6)
        await one.check(18)
        # Of the next version no pod is there yet.
        one.workloads.change(template={"spec": {"containers": []}})
        one.workloads.controller(updated=1, available=5)
        await one.check(18)
        one.workloads.controller(updated=2, available=5)
        await one.check(18)
        assert one.state == ("rolling", "")
        await one.check(4)
    assert one.state == ("stopped", f"a pod was not ready within 20 s; {RESUME}")


async def test_a_stop_that_is_tried_again_tells_of_the_pod_and_not_of_its_own_pause() -> None:
    one = Life()
    async with one.running(roll(deadline_s=20)):
        await one.check()
        one.workloads.controller(updated=1, available=1)
        await one.check(2)
        one.workloads.races = True
        await one.check(20)
        assert one.state == ("rolling", "a pod was not ready within 20 s")
        assert one.workloads.spec["paused"] is True
        one.workloads.races = False
        await one.check()
    assert one.state == ("stopped", f"a pod was not ready within 20 s; {RESUME}")
    assert one.strategy == USUAL


async def test_who_pauses_it_meanwhile_is_not_told_of_a_pod() -> None:
    one = Life()
    async with one.running(roll(deadline_s=20)):
        await one.check()
        one.workloads.change(paused=True)
        one.workloads.controller(updated=1, available=1)
        await one.check(24)
    assert one.state == ("stopped", f"{PAUSED}; {RESUME}")


async def test_what_others_do_meanwhile_stays() -> None:
    one = Life()
    async with one.running(roll()):
        await one.check()
        one.workloads.spec["strategy"]["rollingUpdate"]["maxUnavailable"] = 2
        one.workloads.controller(updated=2, available=2)
        await one.check()
    assert one.state == ("done", OTHERS)
    assert one.strategy["rollingUpdate"]["maxUnavailable"] == 2


async def test_a_workload_that_is_gone_or_refused_ends_its_roll() -> None:
    one = Life()
    async with one.running(roll()):
        one.workloads.failure = WorkloadRefusedError("a webhook says no")
        await one.check()
    assert one.state == ("failed", "a webhook says no")
    other = Life()
    async with other.running(roll()):
        await other.check()
        other.workloads.document = None
        await other.check()
    assert other.state == ("failed", GONE)
    paused = Life()
    paused.workloads.spec["paused"] = True
    async with paused.running(roll()):
        await paused.check()
    assert paused.state[0] == "failed"
    assert paused.strategy == USUAL


async def test_a_server_or_a_store_that_is_away_is_waited_for() -> None:
    one = Life()
    async with one.running(roll()):
        one.workloads.failure = WorkloadUnreachableError("no answer")
        await one.check()
        assert one.state == ("waiting", "")
        one.workloads.failure = None
        one.store.is_away = True
        await one.check()
        # Nothing is written that is not remembered.
        assert one.strategy == USUAL
        one.store.is_away = False
        await one.check()
        assert one.state == ("rolling", "")


async def test_somebody_ends_it_where_it_is() -> None:
    one = Life()
    async with one.running(roll()):
        await one.check()
        await one.rolls.stop("r1", why="anna ended it")
        await one.rolls.stop("r1", why="again")
    assert one.state == ("stopped", f"anna ended it; {RESUME}")
    assert one.workloads.spec["paused"] is True
    assert one.strategy == USUAL
    waiting = Life()
    await waiting.rolls.add(roll(window="01:00-02:00"))
    await waiting.rolls.stop("r1", why="anna ended it")
    assert waiting.state == ("stopped", "anna ended it")
    assert "paused" not in waiting.workloads.spec
