"""Lets callers that ask for the same at the same time wait for one answer."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class SingleFlight(Generic[T]):
    """Work goes on when the caller that began it leaves, because others may wait for it."""

    name: str
    _under_way: dict[Hashable, asyncio.Future[T]] = field(default_factory=dict, init=False)
    _tasks: asyncio.TaskGroup | None = field(default=None, init=False)

    async def run(self) -> None:
        """Run until cancelled, and then cancel the calls that are under way, too."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await asyncio.get_running_loop().create_future()
        finally:
            self._tasks = None

    async def join(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """The result of *work*, or of the call for *key* that is under way already."""
        flight = self._under_way.get(key)
        if flight is None:
            if self._tasks is None:
                raise RuntimeError(f"{self.name}: joined while it does not run")
            flight = asyncio.get_running_loop().create_future()
            self._under_way[key] = flight
            self._tasks.create_task(self._fly(key, flight, work), name=self.name)
        return await asyncio.shield(flight)

    async def _fly(
        self, key: Hashable, flight: asyncio.Future[T], work: Callable[[], Awaitable[T]]
    ) -> None:
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001 - it is raised for those who wait
            flight.set_exception(error)
            # Retrieved here, because there may be no caller left that waits for it.
            flight.exception()
        except BaseException:
            flight.cancel()
            raise
        else:
            flight.set_result(result)
        finally:
            del self._under_way[key]
