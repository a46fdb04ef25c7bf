import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Coroutine

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.supervising import HungTasksError, Supervisor, TaskEndedError

Body = Callable[[], Coroutine[None, None, None]]

TOO_LONG_S = 60.0


class Diary:
    """Bodies that write down what happens to them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.running = asyncio.Event()

    def runs_until_cancelled(self, name: str) -> Body:
        async def body() -> None:
            self.lines.append(f"{name} starts")
            self.running.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.lines.append(f"{name} stops")

        return body

    def fails_when_cancelled(self, name: str, failure: Exception) -> Body:
        async def body() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise failure

        return body


def ignores_cancellation(release: asyncio.Event) -> Body:
    async def body() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    return body


async def returns() -> None: ...


@pytest.fixture
async def release() -> AsyncIterator[asyncio.Event]:
    """Lets hung tasks go at the end of a test."""
    event = asyncio.Event()
    yield event
    event.set()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_bodies_stop_in_reverse_order_when_asked() -> None:
    diary, stop, supervisor = Diary(), asyncio.Event(), Supervisor()
    for name in ("database", "ingest", "listener"):
        supervisor.add(name, diary.runs_until_cancelled(name))

    async with asyncio.timeout(TOO_LONG_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(supervisor.run(stop))
        await diary.running.wait()
        stop.set()

    assert diary.lines == [
        *("database starts", "ingest starts", "listener starts"),
        *("listener stops", "ingest stops", "database stops"),
    ]


async def test_the_first_failure_stops_the_others_and_is_raised_as_it_is() -> None:
    diary, supervisor = Diary(), Supervisor()
    wrong = OperatorError("the disk is full", remedy="make room", code=ExitCode.DATA_DIRECTORY)

    async def fails() -> None:
        await diary.running.wait()
        raise wrong

    supervisor.add("writer", fails)
    supervisor.add("listener", diary.runs_until_cancelled("listener"))
    with pytest.raises(OperatorError) as raised:
        await asyncio.wait_for(supervisor.run(asyncio.Event()), TOO_LONG_S)

    assert raised.value is wrong
    assert raised.value.__notes__ == ["in task 'writer'"]
    assert diary.lines == ["listener starts", "listener stops"]


async def test_a_body_that_returns_by_itself_is_a_failure_with_a_name() -> None:
    diary, supervisor = Diary(), Supervisor()
    supervisor.add("listener", diary.runs_until_cancelled("listener"))
    supervisor.add("sampler", returns)
    with pytest.raises(TaskEndedError, match="'sampler'"):
        await asyncio.wait_for(supervisor.run(asyncio.Event()), TOO_LONG_S)
    assert diary.lines[-1] == "listener stops"


async def test_a_body_that_cancels_itself_is_a_failure_with_a_name() -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    supervisor = Supervisor()
    supervisor.add("sampler", gives_up)
    with pytest.raises(TaskEndedError, match="'sampler'"):
        await asyncio.wait_for(supervisor.run(asyncio.Event()), TOO_LONG_S)


async def test_a_body_may_return_once_the_stop_was_asked_for() -> None:
    stop, supervisor = asyncio.Event(), Supervisor()
    stop.set()
    supervisor.add("sampler", returns)
    await asyncio.wait_for(supervisor.run(stop), TOO_LONG_S)


async def test_tasks_that_ignore_cancellation_are_named_and_left_behind(
    release: asyncio.Event,
) -> None:
    diary, stop, supervisor = Diary(), asyncio.Event(), Supervisor(stop_s=0.02)
    supervisor.add("database", diary.runs_until_cancelled("database"))
    supervisor.add("deaf", ignores_cancellation(release))
    supervisor.add("stubborn", ignores_cancellation(release))
    stop.set()
    with pytest.raises(HungTasksError) as raised:
        await asyncio.wait_for(supervisor.run(stop), TOO_LONG_S)
    assert raised.value.names == ("stubborn", "deaf")
    assert diary.lines == ["database starts", "database stops"]


async def test_a_task_that_needs_longer_to_stop_has_it() -> None:
    diary, stop, supervisor = Diary(), asyncio.Event(), Supervisor(stop_s=0.001)
    cancelled, finished = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            await finished.wait()
            diary.lines.append("slow stops")

    async def others() -> None:
        await cancelled.wait()
        await asyncio.sleep(0.02)
        finished.set()

    supervisor.add("slow", slow, stop_s=TOO_LONG_S)
    async with asyncio.timeout(TOO_LONG_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(others())
        running = tasks.create_task(supervisor.run(stop))
        await asyncio.sleep(0)
        stop.set()
        await running
    assert diary.lines == ["slow stops"]


async def test_a_hung_task_does_not_hide_the_failure_before_it(release: asyncio.Event) -> None:
    async def fails() -> None:
        raise ConnectionError("gone")

    supervisor = Supervisor(stop_s=0.02)
    supervisor.add("deaf", ignores_cancellation(release))
    supervisor.add("uplink", fails)
    with pytest.raises(HungTasksError) as raised:
        await asyncio.wait_for(supervisor.run(asyncio.Event()), TOO_LONG_S)
    assert isinstance(raised.value.__cause__, ConnectionError)


async def test_a_failure_while_stopping_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    diary, stop, supervisor = Diary(), asyncio.Event(), Supervisor()
    supervisor.add("first", diary.fails_when_cancelled("first", ValueError("second to stop")))
    supervisor.add("second", diary.fails_when_cancelled("second", KeyError("first to stop")))

    async with asyncio.timeout(TOO_LONG_S):
        with pytest.raises(KeyError):
            await run_then_stop(supervisor, stop)
    assert [record.message for record in caplog.records] == ["task_failed"]


async def run_then_stop(supervisor: Supervisor, stop: asyncio.Event) -> None:
    async def stopper() -> None:
        stop.set()
        await asyncio.Event().wait()

    supervisor.add("stopper", stopper)
    await supervisor.run(stop)


async def test_a_cancelled_supervisor_stops_its_tasks_in_order_too() -> None:
    diary, supervisor = Diary(), Supervisor()
    supervisor.add("database", diary.runs_until_cancelled("database"))
    supervisor.add("listener", diary.runs_until_cancelled("listener"))
    async with asyncio.timeout(TOO_LONG_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(supervisor.run(asyncio.Event()))
        await diary.running.wait()
        running.cancel()
    assert running.cancelled()
    assert diary.lines[-2:] == ["listener stops", "database stops"]


async def test_cancelled_twice_it_leaves_without_order() -> None:
    diary, supervisor = Diary(), Supervisor(stop_s=TOO_LONG_S)
    cleaning, cleaned = asyncio.Event(), asyncio.Event()

    async def cleans_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.set()

    supervisor.add("database", diary.runs_until_cancelled("database"))
    supervisor.add("listener", cleans_up)
    async with asyncio.timeout(TOO_LONG_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(supervisor.run(asyncio.Event()))
        await diary.running.wait()
        running.cancel()
        await cleaning.wait()
        running.cancel()
        await cleaned.wait()
    assert running.cancelled()
    assert diary.lines[-1] == "database stops"


def test_two_tasks_cannot_have_one_name() -> None:
    supervisor = Supervisor()
    supervisor.add("sampler", returns)
    with pytest.raises(ValueError, match="sampler"):
        supervisor.add("sampler", returns)


async def test_together_all_are_cancelled_at_once_and_share_the_time() -> None:
    supervisor, stop, over = (
        Supervisor(stop_s=0.05, together=True),
        asyncio.Event(),
        asyncio.Event(),
    )
    begun: list[str] = []
    cancelled: set[str] = set()

    async def stubborn(name: str) -> None:
        begun.append(name)
        if len(begun) == 2:
            stop.set()
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                cancelled.add(name)

    for name in ("first", "second"):
        supervisor.add(name, functools.partial(stubborn, name))
    with pytest.raises(HungTasksError) as hung:
        await supervisor.run(stop)
    assert set(hung.value.names) == cancelled == {"first", "second"}
    over.set()
