"""Lets callers that ask for the same at the same time wait for one answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, TypeVar

from nemutator_common.clocks import Clock

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Flight(Generic[T]):
    answer: asyncio.Future[T]
    since: float
    begun: bool = False


@dataclass(eq=False, slots=True)
class SingleFlight(Generic[T]):
    """Work goes on when the caller that began it leaves, because others may wait for it."""

    name: str
    clock: Clock
    _: KW_ONLY
    at_once: int = 1 << 16
    """So many are under way at a time, and the others wait for their turn."""
    drain_s: float = 0.0
    """For so long, those that are under way at the end may go on."""
    _flights: dict[Hashable, _Flight[T]] = field(default_factory=dict, init=False)
    _tasks: asyncio.TaskGroup | None = field(default=None, init=False)
    _room: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.at_once)

    async def run(self) -> None:
        """Run until cancelled; then nothing more begins, and what does not end in time is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self._tasks = None
                begun = [flight.answer for flight in self._flights.values() if flight.begun]
                if begun and self.drain_s:
                    await asyncio.wait(begun, timeout=self.drain_s)

    async def join(
        self, key: Hashable, work: Callable[[], Awaitable[T]], *, within_s: float | None = None
    ) -> T:
        """The result of *work*, or of the call for *key* that is under way already.

        Raises a TimeoutError after *within_s*, and the work goes on.
        """
        flight = self._flights.get(key)
        if flight is None:
            if self._tasks is None:
                raise RuntimeError(f"{self.name}: joined while it does not run")
            future = asyncio.get_running_loop().create_future()
            flight = self._flights[key] = _Flight(future, self.clock.monotonic())
            self._tasks.create_task(self._fly(key, flight, work), name=self.name)
        if within_s is None:
            return await asyncio.shield(flight.answer)
        async with asyncio.TaskGroup() as tasks:
            timer = tasks.create_task(self.clock.sleep(within_s), name=f"wait to {self.name}")
            await asyncio.wait((flight.answer, timer), return_when=asyncio.FIRST_COMPLETED)
            timer.cancel()
        if not flight.answer.done():
            raise TimeoutError
        return flight.answer.result()

    def age_s(self, key: Hashable) -> float:
        """For how long the call for *key* has been under way; 0 where there is none."""
        flight = self._flights.get(key)
        return self.clock.monotonic() - flight.since if flight is not None else 0.0

    async def _fly(
        self, key: Hashable, flight: _Flight[T], work: Callable[[], Awaitable[T]]
    ) -> None:
        try:
            async with self._turn(flight):
                result = await work()
        except Exception as error:  # noqa: BLE001 - it is raised for those who wait
            flight.answer.set_exception(error)
            # Retrieved here, because there may be no caller left that waits for it.
            flight.answer.exception()
        except BaseException:
            flight.answer.cancel()
            raise
        else:
            flight.answer.set_result(result)
        finally:
            del self._flights[key]

    @contextlib.asynccontextmanager
    async def _turn(self, flight: _Flight[T]) -> AsyncIterator[None]:
        async with self._room:
            if self._tasks is None:
                raise asyncio.CancelledError
            flight.begun = True
            yield
