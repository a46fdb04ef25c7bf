"""The session with which the brain is called, whose connections are given up when one of them is silent."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp


@dataclass(slots=True, eq=False)
class _Lent:
    session: aiohttp.ClientSession
    calls: int = 0


class KeptSessions:
    """Lends one session to all calls, until a call of it was not answered in time.

    A brain that is stopped, or whose machine is gone, ends no connection. All that are kept may lead
    to it, and each would cost the time of one call; a new one is led to another brain. Calls that are
    on their way are left to go on: theirs may lead to a brain that answers.
    """

    def __init__(self, make: Callable[[], aiohttp.ClientSession]) -> None:
        self._make = make
        self._current = _Lent(make())

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[aiohttp.ClientSession]:
        """For one call, of which a `TimeoutError` says that nobody answered."""
        lent = self._current
        lent.calls += 1
        try:
            yield lent.session
        except TimeoutError:
            if lent is self._current:
                self._current = _Lent(self._make())
            raise
        finally:
            lent.calls -= 1
            if lent is not self._current and not lent.calls:
                await lent.session.close()

    async def close(self) -> None:
        await self._current.session.close()
