import asyncio

import pytest
from nemutator_controller.journal.admission_replicas import (
    LISTENS_S,
    MOST,
    MOST_PROCESSES,
    PATIENCE_S,
    AdmissionReplicas,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process


async def answer_of(audience: AdmissionReplicas, clock: ManualClock, *, after_s: float = 0) -> bool:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        if after_s:
            await clock.until_sleeping()
            await clock.advance(after_s)
    return task.result()


async def test_without_an_admission_nobody_is_waited_for() -> None:
    clock = ManualClock()
    assert await answer_of(
        AdmissionReplicas(expected=False, process=fake_process(clock=clock)), clock
    )


async def test_whom_a_new_brain_does_not_know_yet_it_waits_for() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        await clock.advance(1)
        audience.asked("a")
        await clock.advance(1)
        assert not task.done()
        audience.asked("a")
        await clock.advance(1)
        assert task.result()


async def test_an_old_brain_that_nobody_asks_has_no_admission_to_wait_for() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    await clock.advance(LISTENS_S)
    assert await answer_of(audience, clock)


async def test_a_replica_that_tries_again_after_its_longest_pause_is_waited_for_too() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    # It could not reach the brain at first, and each of its pauses was longer than the one before.
    await clock.advance(PATIENCE_S + 4)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        for _ in range(2):
            assert not task.done()
            await clock.advance(2)
            audience.asked("a")
        await clock.advance(1)
        assert task.result()


@pytest.mark.parametrize("asks", [0, 1])
async def test_who_has_not_asked_twice_may_not_know(asks: int) -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    audience.asked("a")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        for _ in range(asks):
            audience.asked("a")
        await clock.advance(PATIENCE_S + 1)
    assert not task.result()


async def test_all_of_them_must_know() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    audience.asked("a")
    audience.asked("b")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        for _ in range(2):
            await clock.advance(1)
            audience.asked("a")
        await clock.advance(1)
        assert not task.done()
        for _ in range(2):
            audience.asked("b")
            await clock.advance(1)
        assert task.result()


async def test_each_process_of_a_replica_must_know() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    for number in range(2 * MOST_PROCESSES):
        audience.asked("a", str(number))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        for number in range(MOST_PROCESSES):
            assert not task.done()
            for _ in range(2):
                await clock.advance(0.1)
                audience.asked("a", str(number))
        await clock.advance(0.4)
        assert task.result()


async def test_a_replica_that_is_gone_is_waited_for_no_longer() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    audience.asked("gone")
    await clock.advance(LISTENS_S - 1)
    assert await answer_of(audience, clock, after_s=2)


async def test_who_comes_beyond_their_number_is_not_remembered() -> None:
    clock = ManualClock()
    audience = AdmissionReplicas(expected=True, process=fake_process(clock=clock))
    for number in range(MOST):
        audience.asked(f"a-{number}")
    audience.asked("one more")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(audience.knows())
        await clock.until_sleeping()
        for _ in range(2):
            await clock.advance(1)
            for number in range(MOST):
                audience.asked(f"a-{number}")
        await clock.advance(1)
        assert task.result()
