"""Writes of work that its process may lose the right to before the work has heard of it.

A process that was stopped for a minute and goes on takes its next step first, and reads the clock in the one after it.
"""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

from nemutator_controller.kube.failures import KubeError

_MAY_WRITE: ContextVar[Callable[[], bool] | None] = ContextVar("may_write", default=None)


class FencedError(KubeError):
    """Another process does this work by now; nothing was sent."""


def fenced(
    run: Callable[[], Coroutine[Any, Any, None]], may_write: Callable[[], bool]
) -> Callable[[], Coroutine[Any, Any, None]]:
    """*run*, whose writes, and those of the tasks that it starts, ask *may_write* just before they are sent."""

    async def body() -> None:
        _MAY_WRITE.set(may_write)
        await run()

    return body


def check(asked: str) -> None:
    """Raises `FencedError` when who runs may no longer write."""
    may_write = _MAY_WRITE.get()
    if may_write is not None and not may_write():
        raise FencedError(asked, "another brain may lead by now")
