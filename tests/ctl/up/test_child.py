import asyncio
import dataclasses

import pytest
from nemutator_common.errors import PERMANENT, ExitCode, OperatorError
from nemutator_common.supervising import Supervisor
from nemutator_ctl.up.child import KILLED_S, MISSED_AGAIN_S, PATIENCE_S, STEP_S
from nemutator_ctl.up.restarts import HUNG_S, MOST_DEATHS, SETTLED_S, Ended

from tests.ctl.up.supervised import ended, running, settled, supervised
from tests.fakes.clocks import ManualClock
from tests.fakes.processes import SIGKILL, FakeChild, FakeProcesses

PROMISE_S = 2.0
"""From Ctrl-C to the end of everything."""


async def test_a_child_that_is_ready_has_no_problem() -> None:
    processes = FakeProcesses()
    child = supervised(processes, ManualClock())
    assert child.problem == "not started yet"
    async with running(child):
        assert child.pid == processes.last.pid
        assert str(child.problem) == "None"
    assert child.problem == "not running"


async def test_a_child_that_is_never_ready_says_why_and_is_not_given_up() -> None:
    processes = FakeProcesses(lambda child: setattr(child, "problem", "it migrates"))
    clock = ManualClock()
    child = supervised(processes, clock)
    async with running(child):
        await clock.advance(60.0)
        assert child.problem == "it migrates"
        processes.last.problem = None
        await clock.advance(MISSED_AGAIN_S)
        assert child.problem is None
    assert len(processes.children) == 1


async def test_a_child_that_starts_slowly_is_asked_ever_more_seldom() -> None:
    processes = FakeProcesses(lambda child: setattr(child, "problem", "it imports"))
    clock = ManualClock()
    async with running(supervised(processes, clock)):
        await clock.advance(2.0)
        assert processes.questions >= 10
        await clock.advance(58.0)
        before = processes.questions
        await clock.advance(100 * MISSED_AGAIN_S)
        assert processes.questions - before <= 101


async def test_waiting_for_a_child_ends_when_it_is_ready() -> None:
    processes, clock = FakeProcesses(lambda child: setattr(child, "problem", "soon")), ManualClock()
    child = supervised(processes, clock)
    async with running(child), asyncio.TaskGroup() as group:
        waiting = group.create_task(child.wait_ready(within_s=20.0))
        await clock.advance(3.0)
        assert not waiting.done()
        processes.last.problem = None
        await clock.advance(MISSED_AGAIN_S)
        assert await waiting


async def test_waiting_for_a_child_that_is_never_ready_ends_in_time() -> None:
    clock = ManualClock()
    child = supervised(FakeProcesses(), clock)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(child.wait_ready(within_s=20.0))
        await settled()
        await clock.advance(20.0)
        assert not await waiting
    assert clock.monotonic() == 20.0


@pytest.mark.parametrize("code", sorted(PERMANENT))
async def test_a_permanent_code_ends_it_with_that_code(code: ExitCode) -> None:
    processes = FakeProcesses(lambda child: child.end(Ended(code)))
    error = await ended(supervised(processes, ManualClock()))
    assert error.code is code
    assert "brain" in error.what
    assert len(processes.children) == 1


async def test_one_that_has_worked_is_started_again_until_its_database_answers() -> None:
    gone, clock = asyncio.Event(), ManualClock()

    def born(child: FakeChild) -> None:
        if gone.is_set():
            child.end(Ended(ExitCode.UNREACHABLE))

    processes = FakeProcesses(born)
    async with running(supervised(processes, clock)):
        gone.set()
        processes.last.end(Ended(-9))
        await settled()
        await clock.advance(600.0)
        assert len(processes.children) > 10 * MOST_DEATHS
        gone.clear()
        await clock.advance(10.0)
        assert processes.last.problem is None


async def test_a_row_of_quick_deaths_ends_it_and_names_the_child() -> None:
    processes, clock = FakeProcesses(lambda child: child.end(Ended(-11))), ManualClock()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ended(supervised(processes, clock)))
        await settled()
        await clock.advance(120.0)
        error = await task
    assert error.code is ExitCode.CHILD_DIED
    assert "brain died 5 times" in error.what
    assert "SIGSEGV" in error.what
    assert len(processes.children) == MOST_DEATHS


async def wait_after_death(clock: ManualClock, processes: FakeProcesses) -> float:
    """How long it takes until the next child is there."""
    died_at, before = clock.monotonic(), len(processes.children)
    processes.last.end(SIGKILL)
    while len(processes.children) == before:
        await clock.until_sleeping()
        await clock.advance(0.01)
    return clock.monotonic() - died_at


async def test_the_wait_grows_with_quick_deaths_and_is_short_again_after_a_long_life() -> None:
    clock = ManualClock()
    processes = FakeProcesses()
    async with running(supervised(processes, clock)):
        waits = [await wait_after_death(clock, processes) for _ in range(3)]
        assert waits == sorted(waits)
        assert waits[2] > 2 * waits[0]
        await clock.advance(SETTLED_S)
        assert await wait_after_death(clock, processes) == pytest.approx(waits[0], abs=0.02)


async def test_a_child_that_cannot_be_started_is_an_error_for_a_person() -> None:
    processes = FakeProcesses()
    processes.refusal = OperatorError("no python", remedy="install", code=ExitCode.CHILD_DIED)
    assert await ended(supervised(processes, ManualClock())) is processes.refusal


async def test_one_that_obeys_is_asked_and_not_killed() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    async with running(supervised(processes, clock)):
        pass
    assert processes.last.events == ["asked"]
    assert clock.monotonic() == 0.0


def stubborn(child: FakeChild) -> None:
    child.obeys = False


async def test_ctrl_c_while_a_child_starts_stops_that_child() -> None:
    processes = FakeProcesses(lambda child: setattr(child, "problem", "starting"))
    clock = ManualClock()
    async with running(supervised(processes, clock)):
        await clock.until_sleeping()
    assert processes.last.events == ["asked"]
    assert processes.last.poll() is not None


async def test_what_may_not_be_killed_is_left_behind_in_time() -> None:
    processes, clock = FakeProcesses(stubborn), ManualClock()
    async with running(supervised(processes, clock, drain_s=0.5)) as task:
        processes.last.mortal = False
        task.cancel()
        await settled()
        await clock.advance(0.5)
        await asyncio.wait([task])
    assert processes.last.events == ["asked", "killed"]
    assert clock.monotonic() == 0.5


async def test_a_second_cancellation_kills_at_once() -> None:
    processes, clock = FakeProcesses(stubborn), ManualClock()
    async with running(supervised(processes, clock)) as task:
        task.cancel()
        await settled()
        task.cancel()
        await asyncio.wait([task])
    assert processes.last.events == ["asked", "killed"]
    assert clock.monotonic() == 0.0


async def test_two_children_that_ignore_everything_are_gone_in_order_within_the_promise() -> None:
    clock, order = ManualClock(), list[str]()
    both = {name: FakeProcesses(stubborn) for name in ("brain", "observe")}
    children = {
        "brain": supervised(both["brain"], clock, name="brain", drain_s=1.0),
        "observe": supervised(both["observe"], clock, name="observe", drain_s=0.5),
    }

    async def body(name: str) -> None:
        try:
            await children[name].run()
        finally:
            order.append(name)

    # The supervisor's own patience is real time, in which the manual clock need not hurry.
    supervisor, stop = Supervisor(stop_s=20.0), asyncio.Event()
    supervisor.add("brain", lambda: body("brain"))
    supervisor.add("observe", lambda: body("observe"))
    async with asyncio.TaskGroup() as group:
        whole = group.create_task(supervisor.run(stop))
        await settled()
        stop.set()
        stop.set()  # Ctrl-C twice is Ctrl-C
        while not whole.done():
            await settled()
            await clock.advance(STEP_S)
    assert order == ["observe", "brain"]
    assert all(fake.last.poll() == SIGKILL for fake in both.values())
    assert clock.monotonic() <= PROMISE_S
    assert 1.0 + 0.5 + 2 * KILLED_S <= PROMISE_S


async def test_one_that_needs_another_starts_once_that_one_is_ready() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    brain = supervised(FakeProcesses(), clock)
    observe = supervised(processes, clock, name="observe", after=brain)
    async with running(observe):
        await clock.advance(5.0)
        assert processes.children == []
        assert observe.problem == "it waits for brain"
        brain.problem = None
        await clock.advance(STEP_S)
        assert len(processes.children) == 1


async def test_it_starts_all_the_same_when_the_other_takes_too_long() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    observe = supervised(processes, clock, after=supervised(FakeProcesses(), clock))
    async with running(observe):
        await clock.until_sleeping()
        await clock.advance(PATIENCE_S)
        assert len(processes.children) == 1


async def test_one_that_serves_nothing_is_ready_as_soon_as_it_runs() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    sample = dataclasses.replace(supervised(processes, clock, name="sample"), health=None)
    async with running(sample):
        processes.last.answers = False
        await clock.advance(10 * HUNG_S)
        assert sample.problem is None
    assert len(processes.children) == 1
