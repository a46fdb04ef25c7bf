"""Files on a file system that does not answer, and those that do."""

import asyncio
import threading

import pytest
from nemutator_agent.inspection.failures import FileSystemStuckError
from nemutator_agent.inspection.opening_thread import OpeningThread

from tests.testbed.running.waiting import until


async def test_what_was_opened_or_raised_comes_back() -> None:
    thread: OpeningThread[int] = OpeningThread(deadline_s=60, close=lambda opened: None)
    assert await thread.do(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await thread.do(lambda: 1 // 0)
    assert await thread.do(lambda: 8) == 8


async def test_while_it_is_stuck_nothing_waits_and_what_comes_late_is_closed() -> None:
    closed: list[int] = []
    answers = threading.Event()

    def stuck() -> int:
        answers.wait(60)
        return 7

    thread: OpeningThread[int] = OpeningThread(deadline_s=0.02, close=closed.append)
    for _ in range(2):
        with pytest.raises(FileSystemStuckError):
            await thread.do(stuck)
    answers.set()
    await asyncio.to_thread(until, lambda: closed, "the late one is closed", within_s=60)
    assert closed == [7]


async def test_what_nobody_waits_for_any_more_is_closed() -> None:
    closed: list[int] = []
    answers = threading.Event()

    def late() -> int:
        answers.wait(60)
        return 7

    thread: OpeningThread[int] = OpeningThread(deadline_s=60, close=closed.append)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await thread.do(late)
    answers.set()
    await asyncio.to_thread(until, lambda: closed, "the late one is closed", within_s=60)
