"""Workloads that others delete or take back while they are rolled, and a store that forgets that they are."""

from dataclasses import replace

import pytest
from nemutator_controller.rolling.rolling import (
    GONE,
    HELD,
    RESUME,
    TAKEN_BACK,
    RolledAlreadyError,
)
from nemutator_controller.rolling.strategies import SLOW

from tests.controller.rolling.lives import Life
from tests.fakes.rolls import USUAL, WEB, roll


async def test_a_roll_that_has_begun_is_ended_as_such_though_the_store_has_not_taken_that() -> None:
    one = Life()
    async with one.running(roll(window="23:00-00:30")):
        one.store.refused = {"rolling"}
        await one.check()
        assert (one.state[0], one.strategy) == ("waiting", SLOW["Deployment"])
        await one.check(1_800)
        # Its window is over by now.
        one.store.refused = set()
        await one.check()
        await one.check()
        assert one.state == ("held", HELD)
    other = Life()
    async with other.running(roll()):
        other.store.refused = {"rolling"}
        await other.check()
        other.store.refused = set()
        await other.rolls.stop("r1", why="anna ended it")
    assert other.state == ("stopped", f"anna ended it; {RESUME}")
    assert other.strategy == USUAL


async def test_a_roll_that_waits_for_a_workload_of_before_holds_up_nobody() -> None:
    one = Life()
    await one.rolls.add(roll(window="01:00-02:00"))
    one.workloads.become_another("u2")
    anew = replace(WEB, uid="u2")
    await one.rolls.add(roll("r2", workload=anew, window="01:00-02:00"))
    assert one.state == ("failed", GONE)
    assert (await one.store.unfinished())[0].id == "r2"
    with pytest.raises(RolledAlreadyError):
        await one.rolls.add(roll("r3", workload=anew))
    one.workloads.document = None
    await one.rolls.stop("r2", why="anna ended it")
    assert one.store.kept["r2"].state == "failed"


async def test_a_roll_whose_template_was_taken_back_is_not_called_done() -> None:
    one = Life()
    async with one.running(roll()):
        await one.check()
        one.workloads.controller(updated=1, available=1)
        await one.check()
        # As by `kubectl rollout undo`, which leaves the strategy alone.
        one.workloads.change(template={})
        await one.check()
        assert one.state == ("rolling", "")
        one.workloads.controller(updated=2, available=2)
        await one.check()
    assert one.state == ("stopped", TAKEN_BACK)
    assert one.strategy == USUAL
    assert "paused" not in one.workloads.spec
    assert one.workloads.notes[-1] == (f"the slow roll was stopped: {TAKEN_BACK}", True)
