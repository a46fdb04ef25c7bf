"""An API server that says what a test wrote down, and a clock on which waiting takes no time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import KubeError

Said = bytes | KubeError
"""Bytes of a body, or what happens instead of (more of) it."""


class EagerClock:
    """Time passes by sleeping only. `slept` has every wait there was."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.wall = 1_700_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
            self.elapsed += seconds
            self.wall += seconds
        await asyncio.sleep(0)


class ScriptedTransport:
    """Answers calls in the order of the script; after its end, calls wait for ever.

    One entry answers one call: `send` gets the bytes joined, `stream` one after the other.
    """

    def __init__(self, *script: Said | Iterable[Said]) -> None:
        self._script = [[entry] if isinstance(entry, Said) else [*entry] for entry in script]
        self.calls: list[Call] = []
        self.idle_s: list[float] = []
        self.over = asyncio.Event()

    async def send(self, call: Call) -> bytes:
        return b"".join([chunk async for chunk in self._answer(call)])

    @contextlib.asynccontextmanager
    async def stream(self, call: Call, *, idle_s: float) -> AsyncIterator[AsyncIterator[bytes]]:
        self.idle_s.append(idle_s)
        yield self._answer(call)

    async def _answer(self, call: Call) -> AsyncIterator[bytes]:
        self.calls.append(call)
        if not self._script:
            self.over.set()
            await asyncio.Event().wait()
        for said in self._script.pop(0):
            if isinstance(said, KubeError):
                raise said
            yield said
