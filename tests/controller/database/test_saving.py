import asyncio

from nemutator_controller.database.saving import LONGEST_REST_S, save_repeatedly

from tests.fakes.clocks import ManualClock


async def test_it_saves_at_each_interval_and_once_more_when_it_is_cancelled() -> None:
    clock, saved_at = ManualClock(), list[float]()

    async def save() -> None:
        saved_at.append(clock.monotonic())

    begun_at = clock.monotonic()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(save_repeatedly(save, every_s=30, clock=clock))
        await clock.until_sleeping()
        for _ in range(2):
            await clock.advance(30)
        await clock.advance(10)
        task.cancel()
    assert [at - begun_at for at in saved_at] == [30, 60, 70]


async def test_what_takes_long_is_saved_less_often_and_not_never() -> None:
    clock, begun_at, takes_s = ManualClock(), list[float](), iter((3.0, 1.0, 100.0, 0.0))

    async def save() -> None:
        begun_at.append(clock.monotonic())
        await clock.sleep(next(takes_s, 0.0))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(save_repeatedly(save, every_s=30, clock=clock))
        await clock.until_sleeping()
        await clock.advance(900)
        task.cancel()
    assert begun_at[:4] == [30, 33 + 60, 94 + 30, 224 + LONGEST_REST_S]


async def test_a_last_save_that_hangs_is_given_up() -> None:
    clock = ManualClock()

    async def hang() -> None:
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(save_repeatedly(hang, every_s=30, clock=clock))
        await clock.until_sleeping()
        task.cancel()
    assert task.cancelled()


async def test_the_last_save_may_be_another_one() -> None:
    clock, saved = ManualClock(), list[str]()

    async def some() -> None:
        saved.append("some")

    async def everything() -> None:
        saved.append("all")

    async with asyncio.TaskGroup() as group:
        task = group.create_task(save_repeatedly(some, every_s=30, clock=clock, last=everything))
        await clock.until_sleeping()
        await clock.advance(30)
        task.cancel()
    assert saved == ["some", "all"]
