"""The long-lived tasks of one process: started together, stopped in order.

This is the one place that does not use a TaskGroup: a group waits for ever for a child that ignores
cancellation, while a process that was asked to stop must be able to exit, and to name the task that
delayed it.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from nemutator_common import names

log = logging.getLogger(__name__)

Body = Callable[[], Coroutine[Any, Any, None]]


class HungTasksError(Exception):
    """Some tasks were cancelled and did not end in time; they still run."""

    def __init__(self, hung: Iterable[str]) -> None:
        self.names = tuple(hung)
        super().__init__(f"these tasks ignored their cancellation: {', '.join(self.names)}")


class TaskEndedError(Exception):
    """A task that should run until it is stopped has returned by itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"task {name!r} ended although nobody asked it to")


STOP_S = 5.0
"""For a task to end once it is cancelled. On a machine without CPU to spare that takes seconds, and is no
hang."""


class Supervisor:
    """Runs named bodies until one ends or all are asked to stop.

    Add a body after those that it needs: the last added is stopped first.
    """

    def __init__(self, *, stop_s: float = STOP_S, together: bool = False) -> None:
        """*together*: all are cancelled at once, and have *stop_s* between them."""
        self._stop_s = stop_s
        self._together = together
        self._bodies: dict[str, Body] = {}
        self._stops_s: dict[str, float] = {}
        """How long each body may take to stop."""

    def add(self, name: str, body: Body, *, stop_s: float | None = None) -> None:
        """*stop_s*: for a body that needs longer than others to stop."""
        if name in self._bodies:
            raise ValueError(f"there is a task {name!r} already")
        self._bodies[name] = body
        self._stops_s[name] = self._stop_s if stop_s is None else stop_s

    async def run(self, stop: asyncio.Event) -> None:
        """Run all bodies until *stop* is set or one of them ends, then stop the rest in order.

        Each gets `stop_s` to end after its cancellation. The first failure is raised as it is; a
        body that returns before it was asked to is one (`TaskEndedError`). When tasks ignored their
        cancellation, `HungTasksError` is raised instead, with that failure as its cause.
        """
        loop = asyncio.get_running_loop()
        asked = loop.create_task(stop.wait(), name="stop")
        tasks = [loop.create_task(body(), name=name) for name, body in self._bodies.items()]
        failures: list[BaseException] = []
        try:
            await asyncio.wait([asked, *tasks], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as cancellation:
            failures.append(cancellation)
        asked.cancel()
        ended = [task for task in tasks if task.done()]
        failures += filter(None, (_failure(task, asked=stop.is_set()) for task in ended))
        hung = await self._stop([task for task in tasks if not task.done()], failures)
        for failure in failures[1:]:
            log.error("task_failed", {names.ERROR: type(failure).__name__}, exc_info=failure)
        if hung:
            raise HungTasksError(hung) from next(iter(failures), None)
        if failures:
            raise failures[0]

    async def _stop(
        self, tasks: list[asyncio.Task[None]], failures: list[BaseException]
    ) -> list[str]:
        """Cancel *tasks*, last first; add to *failures* and return the names of those that hang."""
        hung = []
        now = asyncio.get_running_loop().time
        latest = now() + self._stop_s
        try:
            if self._together:
                for task in tasks:
                    task.cancel()
            for task in reversed(tasks):
                task.cancel()
                own_s = self._stops_s[task.get_name()]
                stop_s = max(0.0, latest - now()) if self._together else own_s
                await asyncio.wait([task], timeout=stop_s)
                if not task.done():
                    hung.append(task.get_name())
                elif failure := _failure(task, asked=True):
                    failures.append(failure)
        finally:
            # If we are cancelled once more, there is no time left to stop tasks in order.
            for task in tasks:
                task.cancel()
        return hung


def _failure(task: asyncio.Task[None], *, asked: bool) -> BaseException | None:
    """Why an ended *task* failed, if it did; in a traceback, the failure names its task."""
    failure = None if task.cancelled() else task.exception()
    if failure is not None:
        failure.add_note(f"in task {task.get_name()!r}")
    elif not asked:
        failure = TaskEndedError(task.get_name())
    return failure
