import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from nemutator_controller.access.queueing import FairQueue, QueueFullError


class Questions:
    """Questions that have begun, in their order; each ends when it is let go."""

    def __init__(self, queue: FairQueue, group: asyncio.TaskGroup) -> None:
        self.queue = queue
        self.refused: list[str] = []
        self._group = group
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, *names: str) -> None:
        """Each is of the source that its first letter names."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = self._group.create_task(self._one(name))
        await self.settle()

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _one(self, name: str) -> None:
        try:
            async with self.queue.turn(name[0]):
                self.begun.append(name)
                await self._ends[name].wait()
        except QueueFullError:
            self.refused.append(name)


@asynccontextmanager
async def asking(at_once: int, *, most_waiting: int = 3) -> AsyncIterator[Questions]:
    queue = FairQueue(at_once, most_waiting=most_waiting)
    async with asyncio.TaskGroup() as group:
        questions = Questions(queue, group)
        yield questions
        for task in questions.tasks.values():
            task.cancel()
    # Whatever was cancelled, nothing of it is left.
    assert not questions.queue._running
    assert not questions.queue._waiting


async def test_sources_take_turns() -> None:
    async with asking(1) as questions:
        await questions.ask("a1", "a2", "a3", "b1", "b2", "c1")
        for name in ("a1", "a2", "b1", "c1", "a3"):
            await questions.end(name)
        assert questions.begun == ["a1", "a2", "b1", "c1", "a3", "b2"]


async def test_a_source_that_is_alone_has_all_turns_and_the_next_one_is_for_another() -> None:
    async with asking(2) as questions:
        await questions.ask("a1", "a2", "a3", "a4", "b1")
        assert questions.begun == ["a1", "a2"]
        await questions.end("a1", "a2")
        assert questions.begun == ["a1", "a2", "a3", "b1"]
        await questions.end("a3", "b1", "a4")
        await questions.ask("c1", "c2")
        assert questions.begun[-2:] == ["c1", "c2"]


async def test_a_source_with_too_many_is_refused_at_once_and_no_other_is() -> None:
    async with asking(1) as questions:
        await questions.ask("a1", "a2", "a3", "a4", "a5", "b1")
        assert questions.refused == ["a5"]
        await questions.end("a1", "a2")
        assert questions.begun == ["a1", "a2", "b1"]


@pytest.mark.parametrize("ended", ["a1", "a2"])
async def test_who_gives_up_keeps_no_turn(ended: str) -> None:
    """While it waits, and in the moment in which it would have been its turn."""
    async with asking(1) as questions:
        await questions.ask("a1", "a2", "b1")
        questions._ends["a1"].set()
        questions.tasks[ended].cancel()
        await questions.settle()
        await questions.end("a2")
        assert questions.begun[-1] == "b1"


async def test_a_turn_that_was_given_to_nobody_goes_on_to_the_next() -> None:
    async with asking(1) as questions:
        await questions.ask("a1", "b1", "c1")
        questions._ends["a1"].set()
        await asyncio.sleep(0)
        # It is b's turn, and b has not run yet.
        assert list(questions.queue._waiting) == ["c"]
        questions.tasks["b1"].cancel()
        await questions.settle()
        assert questions.begun == ["a1", "c1"]
