import pytest
from nemutator_common import names
from nemutator_ctl.up.child import ASK_AGAIN_S
from nemutator_ctl.up.restarts import HUNG_S, STOPPED_S

from tests.ctl.up.supervised import killed, running, supervised
from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeChild, FakeProcesses


def hang(processes: FakeProcesses, *, state: str) -> FakeChild:
    child = processes.last
    child.answers, child.state = False, state
    return child


async def test_a_child_that_no_longer_answers_is_ended_and_another_takes_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    processes, clock = FakeProcesses(), ManualClock()
    child = supervised(processes, clock)
    async with running(child):
        await clock.advance(5 * ASK_AGAIN_S)
        first = hang(processes, state="S")
        await clock.advance(HUNG_S)
        assert len(processes.children) == 1
        await clock.advance(2 * ASK_AGAIN_S)
        assert first.events == ["asked"]
        assert len(processes.children) == 2
        assert child.problem is None
        await clock.advance(10 * HUNG_S)
        assert len(processes.children) == 2
    (hung,) = [record for record in caplog.records if record.msg == "child_hung"]
    assert hung.args == {
        names.PROCESS: "brain",
        names.PID: first.pid,
        names.REASON: "it has not answered for 60 s in which it could have",
    }


async def test_a_stopped_child_is_replaced_sooner() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    async with running(supervised(processes, clock)):
        hang(processes, state="T")
        await clock.advance(ASK_AGAIN_S + STOPPED_S + 5.0)
        assert len(processes.children) == 2


async def test_a_child_that_was_silent_and_answers_again_is_left_alone() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    async with running(supervised(processes, clock)):
        for _ in range(5):
            processes.last.answers = False
            await clock.advance(HUNG_S - ASK_AGAIN_S)
            processes.last.answers = True
            await clock.advance(2 * ASK_AGAIN_S)
    assert len(processes.children) == 1


async def test_a_child_that_is_starved_of_the_processor_is_not_taken_for_hung() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    async with running(supervised(processes, clock)):
        hang(processes, state="R")
        for _ in range(600):
            processes.last.waited_s += 1.0
            await clock.advance(1.0)
    assert len(processes.children) == 1


async def test_a_child_that_takes_minutes_to_start_is_waited_for() -> None:
    def slow(child: FakeChild) -> None:
        child.problem, child.answers = "it does not answer yet", False

    processes, clock = FakeProcesses(slow), ManualClock()
    async with running(supervised(processes, clock)):
        await clock.advance(3 * HUNG_S)
    assert len(processes.children) == 1


async def test_what_hangs_and_may_not_be_killed_is_waited_for_and_then_replaced() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    child = supervised(processes, clock)
    async with running(child):
        first = hang(processes, state="S")
        first.obeys = first.mortal = False
        await clock.advance(10 * HUNG_S)
        assert first.events == ["asked", "killed"]
        assert len(processes.children) == 1
        assert "has not answered" in str(child.problem)
        await killed(processes, clock)
        assert len(processes.children) == 2
